// @vitest-environment happy-dom
// The list of the page's elements names those of index.html.
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { beforeAll, expect, it } from "vitest";
import { elements } from "../../../web/page/dom/elements.js";

const page = resolve(import.meta.dirname, "../../../web/page");
const source = readFileSync(resolve(page, "dom/elements.ts"), "utf8");
const listed = [...source.matchAll(/^ {2}readonly (\w+): (\w+);$/gm)].map(([, name = "", type = ""]) => ({
  name,
  type,
}));

beforeAll(() => {
  const html = readFileSync(resolve(page, "index.html"), "utf8");
  document.body.innerHTML = /<body>(.*)<script type="module"/s.exec(html)?.[1] ?? "";
});

it("the list of elements is found in elements.ts", () => {
  expect(listed.length).toBeGreaterThan(60);
});

it.each(listed)("index.html has $name, of the type $type", ({ name, type }) => {
  const expected: unknown = Reflect.get(window, type);
  const found: unknown = Reflect.get(elements, name);
  expect(typeof expected).toBe("function");
  expect(found).toBeInstanceOf(expected);
});

it("an element that the page does not have is an error", () => {
  expect(() => Reflect.get(elements, "noSuchPart") as unknown).toThrow("the page has no #no-such-part");
});
