// @vitest-environment happy-dom
import { expect, it } from "vitest";
import { reasonOf } from "../../../web/page/parts/library/reason.js";

it("a sentence of the browser loses its full stop, because it continues in a sentence of the page", () => {
  expect(reasonOf(new DOMException("The store was not found.", "NotFoundError"))).toBe(
    "The store was not found",
  );
});
