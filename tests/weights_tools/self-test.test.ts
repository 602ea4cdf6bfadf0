// The results that the page's self-test expects, compared with the native engine.
import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { expectedFile, expectedSource, expectedValues } from "../../web/scripts/self-test.mjs";

it("the self-test expects what the native engine computes (else: npm run self-test:expect)", async () => {
  const expected = await expectedSource(await expectedValues());
  expect(readFileSync(expectedFile, "utf8")).toBe(expected);
});
