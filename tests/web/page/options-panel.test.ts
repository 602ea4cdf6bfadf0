// @vitest-environment happy-dom
// What is put into the options, by a link or a reload, and what is read from them again.
import { beforeEach, expect, it } from "vitest";
import type { GenerationDefaults } from "../../../web/src/client/index.js";
import { OptionsPanel } from "../../../web/page/parts/options/options-panel.js";

const defaults: GenerationDefaults = {
  maxNewTokens: 64,
  temperature: 1,
  topK: 50,
  topP: 1,
  minP: 0,
  typicalP: 1,
  noRepeatNgramSize: 0,
  repetitionPenalty: 1,
};
let panel: OptionsPanel;
beforeEach(() => {
  panel = new OptionsPanel(document.createElement("details"), document.createElement("div"));
  panel.label();
});

it("gives again what was put in, and nothing else", () => {
  const options = { maxNewTokens: 7, temperature: 0.5, seed: 3, ignoreEos: true, stop: ["a\nb"] };
  panel.show(options);
  expect(panel.read()).toEqual(options);
  panel.show({ topK: 9 });
  expect(panel.read()).toEqual({ maxNewTokens: 200, topK: 9, ignoreEos: false });
});

it("tells what its user set from what it asks for", () => {
  expect(panel.peek()).toEqual({ maxNewTokens: 200, ignoreEos: false });
  expect(panel.peek("own")).toEqual({ ignoreEos: false });
});

it("has what was put in still when a model comes with other numbers, though they were the page's own", () => {
  panel.show({ temperature: 0.8 }); // as at first
  panel.showDefaults(defaults);
  expect(panel.peek("own")).toEqual({ temperature: 0.8, ignoreEos: false });
  panel.show({});
  panel.showDefaults({ ...defaults, temperature: 0.7 });
  expect(panel.peek("own")).toEqual({ ignoreEos: false });
});

it("shows a value that is refused, and gives none", () => {
  panel.show({ temperature: -1 });
  expect(panel.peek()).toBeUndefined();
  expect(panel.read()).toBeUndefined();
});

it("stays as it is set in another language, with the numbers of the model", () => {
  panel.showDefaults({ ...defaults, temperature: 0.7 });
  panel.show({ topP: 0.5 });
  panel.label();
  expect(panel.peek("own")).toEqual({ topP: 0.5, ignoreEos: false });
  panel.show({ temperature: -1 });
  panel.read();
  panel.label();
  expect(panel.peek()).toBeUndefined();
});
