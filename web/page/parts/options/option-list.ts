// The numeric sampling options of the page: their names, ranges and initial values.
import type { GenerationDefaults } from "../../../src/client/index.js";
import {
  numberOptionNames,
  numberOptions as ranges,
  type NumberOptionName,
} from "../../../src/shared/number-options.js";
import { phrase } from "../../language/editor.js";

export interface NumberOption {
  name: NumberOptionName;
  min: number;
  max: number;
  isWhole: boolean;
  /** Added by one press of an arrow key. Values in between are valid, too. */
  step: number;
  /** The value until a model is loaded, and the meaning of an empty field. null: the engine chooses. */
  initial: number | null;
  /** Upper end of the slider beside the field, which begins at `min`; undefined if there is none. */
  sliderTo?: number;
}

/** A group of settings for one purpose. */
export interface Preset {
  name: "precise" | "balanced" | "wild";
  /** Options without a value here use the model's defaults. */
  numbers: Partial<Record<NumberOption["name"], number>>;
}

export const presets: readonly Preset[] = [
  {
    name: "precise",
    numbers: { temperature: 0.4, topK: 20, topP: 0.9 },
  },
  { name: "balanced", numbers: {} },
  {
    name: "wild",
    numbers: { temperature: 1.3, topK: 0, topP: 1, minP: 0.02 },
  },
];

/** The step of each field, and where the page's range or initial value differs from the option's own. */
const fields: Readonly<
  Record<NumberOptionName, Pick<NumberOption, "step"> & Partial<Omit<NumberOption, "name" | "isWhole">>>
> = {
  maxNewTokens: { step: 1, min: 1, max: 4096, initial: 200 },
  temperature: { step: 0.05, max: 5, sliderTo: 2 },
  topK: { step: 1, max: 100000, sliderTo: 100 },
  topP: { step: 0.01, sliderTo: 1 },
  minP: { step: 0.01, sliderTo: 0.5 },
  typicalP: { step: 0.01, sliderTo: 1 },
  noRepeatNgramSize: { step: 1, max: 100, sliderTo: 10 },
  repetitionPenalty: { step: 0.05, min: 0.1, max: 10, sliderTo: 2 },
  seed: { step: 1 },
};

export const numberOptions: readonly NumberOption[] = numberOptionNames.map((name) => {
  const { least, most, isWhole, initial } = ranges[name];
  return { name, min: least, max: most, isWhole, initial, ...fields[name] };
});

/**
 * The initial value of `option` for a model with these defaults. If the model sets no length, the page's own applies.
 */
export function initialOf(
  { name, initial }: NumberOption,
  defaults: Readonly<Partial<GenerationDefaults>>,
): number | null {
  if (name === "seed" || (name === "maxNewTokens" && defaults[name] === ranges[name].initial)) return initial;
  return defaults[name] ?? initial;
}

/** Explains what is wrong with the value of `input`; undefined if it is valid. */
export function refusalOf({ min, max, isWhole }: NumberOption, input: HTMLInputElement): string | undefined {
  const range = { min: String(min), max: String(max) };
  // Browsers do not reveal what was typed if it is not a number.
  if (input.validity.badInput) return phrase(isWhole ? "expectedWhole" : "expectedNumber", range);
  if (input.value === "") return undefined;
  const value = input.valueAsNumber;
  const fits = value >= min && value <= max && (!isWhole || Number.isInteger(value));
  if (fits) return undefined;
  return phrase(isWhole ? "foundWhole" : "foundNumber", { ...range, found: input.value });
}
