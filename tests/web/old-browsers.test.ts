// What older browsers lack: color-mix() in Chrome and Edge before 111, Intl.Segmenter in Firefox before 125.
import { expect, it, vi } from "vitest";
import { truncate } from "../../web/src/element/continuation.js";
import { ghostStyle } from "../../web/src/element/ghost-text.js";
import { writerStyle } from "../../web/src/element/writer-style.js";
import { insideStyle } from "../../web/src/figures/style.js";

vi.mock("../../web/src/client/index.js", () => ({}));

it.each([
  ["suggestions", ghostStyle],
  ["the writer", writerStyle],
  ["figures", insideStyle],
])("without color-mix(), the style of %s is still valid", (_, css) => {
  const always = css.replace(/@supports \(color: color-mix.*?\n\}\n/gs, "");
  expect(always.length).toBeLessThan(css.length);
  // A browser drops an invalid declaration, unless it has a custom property: then its value becomes invalid.
  const invalid = always
    .split(/[;{}]/)
    .filter((each) => each.includes("color-mix(") && /var\(|^\s*--/.test(each));
  expect(invalid).toEqual([]);
});

it("without Intl.Segmenter, a text is cut between two characters", () => {
  vi.stubGlobal("Intl", { ...Intl });
  expect("Segmenter" in Intl).toBe(false);
  expect([truncate(" to 😀 bed", 5), truncate(" to 😀 bed", 6)]).toEqual([" to ", " to 😀"]);
});
