// The parts of the elements that need no browser; tests/e2e/element.spec.ts has the rest.
import { expect, it } from "vitest";
import { propertyOf, readCall, readLoadOptions } from "../../web/src/element/attributes.js";
import { firstWord } from "../../web/src/element/first-word.js";
import { Gpt2Autocomplete, Gpt2Writer } from "../../web/src/element/classes.js";
import { customElementsManifest } from "../../web/scripts/custom-elements.mjs";

const withAttributes = (attributes: Record<string, string>) =>
  ({ getAttribute: (name: string) => attributes[name] ?? null }) as unknown as Element;

it("importing the elements on a server defines nothing and does not fail", async () => {
  const before = Object.keys(globalThis).join();
  const elements = await import("../../web/src/element/index.js");
  expect(Object.keys(elements).sort()).toEqual(["Gpt2Autocomplete", "Gpt2Writer", "define", "setWords"]);
  expect(Object.keys(globalThis).join()).toBe(before);
});

it("attributes set options, and an invalid number is reported", () => {
  expect(
    readCall(withAttributes({ "max-new-tokens": "5", "top-k": "0", temperature: "warm", stop: "\n" })),
  ).toEqual({ maxNewTokens: 5, topK: 0, temperature: NaN, stop: "\n" });
  const loading = withAttributes({ threads: "2", "base-url": "x/" });
  expect(readLoadOptions(loading)).toEqual({ threads: 2, baseUrl: "x/" });
  expect(readCall(withAttributes({ "max-new-tokens": "", temperature: " " }))).toEqual({ stop: null });
});

it.each([
  [" to the park", " to"],
  ["ing. They", "ing"],
  [". They", "."],
  [", and", ","],
  [" don't go", " don't"],
  [" l’été est", " l’été"],
  ['"Hello', '"'],
  [" 3.5", " 3"],
  ["\n\nThe end", "\n\nThe"],
  [" ", " "],
])("the first word of %j is %j", (text, word) => {
  expect(firstWord(text)).toBe(word);
});

it("custom-elements.json describes every attribute, event, part and property", () => {
  const { declarations } = customElementsManifest().modules[0] ?? {};
  const elements = new Map(declarations?.map((each) => [each.tagName, each]));
  expect([...elements.keys()]).toEqual(["gpt2-writer", "gpt2-autocomplete"]);
  const names = (list?: { name: string }[]) => list?.map(({ name }) => name).sort();
  const writer = elements.get("gpt2-writer");
  expect(names(writer?.events)).toEqual(
    ["change", "gpt2-done", "gpt2-error", "gpt2-progress", "gpt2-token", "input"].sort(),
  );
  expect(names(writer?.cssParts)).toEqual(["button", "footer", "progress", "status", "text"]);
  expect(names(writer?.attributes)).toEqual(expect.arrayContaining(["model", "prompt", "max-new-tokens"]));
  expect(names(writer?.members)).toEqual(expect.arrayContaining(["value", "write", "stop"]));
  for (const { attributes, events, cssParts, cssProperties } of elements.values()) {
    for (const { name, description } of [...attributes, ...events, ...cssParts, ...cssProperties])
      expect(description, name).toMatch(/\w/);
  }
});

it("each attribute has a property that can be set, as frameworks do", () => {
  const { declarations } = customElementsManifest().modules[0] ?? {};
  const classes: Record<string, { prototype: object }> = { Gpt2Autocomplete, Gpt2Writer };
  const hasSetter = (object: object | null, name: string): boolean =>
    object !== null &&
    (Object.getOwnPropertyDescriptor(object, name)?.set !== undefined ||
      hasSetter(Object.getPrototypeOf(object) as object | null, name));
  const native = ["autofocus", "lang"]; // HTMLElement has them
  for (const { name: element, attributes } of declarations ?? []) {
    const names = attributes.map(({ name }) => propertyOf(name)).filter((name) => !native.includes(name));
    const { prototype = {} } = classes[element] ?? {};
    expect(
      names.filter((name) => !hasSetter(prototype, name)),
      element,
    ).toEqual([]);
  }
});
