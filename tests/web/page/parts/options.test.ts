// @vitest-environment happy-dom
// Options that a link or a reload sets are read back unchanged.
import { beforeEach, expect, it } from "vitest";
import type { GenerationDefaults } from "../../../../web/src/client/index.js";
import { numberOptionNames, numberOptions } from "../../../../web/src/shared/generate-options.js";
import { presets } from "../../../../web/page/parts/options/option-list.js";
import { OptionsPanel } from "../../../../web/page/parts/options/options-panel.js";

const initials = numberOptionNames.map((name) => [name, numberOptions[name].initial] as const);
const defaults = { ...Object.fromEntries(initials), temperature: 1, topK: 50, topP: 1 } as GenerationDefaults;
let panel: OptionsPanel;
let opened = 0;
beforeEach(() => {
  document.body.replaceChildren();
  panel = new OptionsPanel(() => (opened += 1), document.body);
  panel.label();
});

it("the options panel returns exactly what was typed", () => {
  const options = { maxNewTokens: 7, temperature: 0.5, seed: 3, ignoreEos: true, stop: ["a\nb"] };
  panel.show(options);
  expect(panel.read()).toEqual(options);
  panel.show({ topK: 9 });
  expect(panel.read()).toEqual({ maxNewTokens: 200, topK: 9, ignoreEos: false });
});

it("the options panel keeps the user's options, and no others, when a model with other defaults loads", () => {
  expect([panel.peek(), panel.own]).toEqual([{ maxNewTokens: 200, ignoreEos: false }, { ignoreEos: false }]);
  panel.show({ temperature: 0.8 }); // as at first
  panel.showDefaults(defaults);
  expect(panel.own).toEqual({ temperature: 0.8, ignoreEos: false });
  panel.show({});
  panel.showDefaults({ ...defaults, temperature: 0.7 });
  expect(panel.own).toEqual({ ignoreEos: false });
});

it("a refused value opens the panel when it is read, and leaves the other options that the user set", () => {
  panel.show({ temperature: 1.3, stop: ["END"], maxNewTokens: 9999 });
  expect([panel.peek(), opened]).toEqual([undefined, 0]);
  expect([panel.read(), opened]).toEqual([undefined, 1]);
  expect(panel.own).toEqual({ temperature: 1.3, stop: ["END"], ignoreEos: false });
});

it.each([
  ["temperature", "-0.1", "Expected a number from 0 to 5, found -0.1."],
  ["topK", "1.5", "Expected a whole number from 0 to 100000, found 1.5."],
  ["topP", "1.5", "Expected a number from 0 to 1, found 1.5."],
  ["seed", "-1", "Expected a whole number from 0 to 9007199254740991, found -1."],
])("the options panel explains the value of %s %s, also beside another", (name, typed, why) => {
  const field = (key: string) => document.querySelector<HTMLInputElement>(`#option-${key}`);
  for (const [key, value] of Object.entries({ [name]: typed, noRepeatNgramSize: "-1" }))
    Object.assign(field(key) ?? expect.fail(`no field ${key}`), { value });
  expect(panel.read()).toBeUndefined();
  expect(document.querySelector(`#refusal-${name}`)?.textContent).toBe(why);
  expect(document.querySelector("#refusal-noRepeatNgramSize")?.textContent).toMatch(/found -1\.$/);
});

it("the options panel recognizes a preset, however its numbers were set", () => {
  panel.showDefaults(defaults);
  const nameNow = () => panel.presetOf(presets)?.name;
  expect(nameNow()).toBe("balanced");
  for (const preset of presets) {
    panel.use(preset);
    expect(nameNow()).toBe(preset.name);
  }
  panel.show({ temperature: 0.4, topK: 20, topP: 0.9, maxNewTokens: 5, seed: 1 });
  expect(nameNow()).toBe("precise");
  panel.show({ temperature: 0.41, topK: 20, topP: 0.9 });
  expect(nameNow()).toBeUndefined();
});
