// The options of the page, from the table of all options: names, ranges, initial values and words.
import type { GenerationDefaults } from "../../../src/client/index.js";
import {
  numberOptionNames,
  numberOptions as ranges,
  type NumberOptionName,
} from "../../../src/shared/generate-options.js";
import table from "../../../../engine/generate/options.json";
import { phrase } from "../../language/editor.js";
import type { Language } from "../../language/languages.js";
import { currentLanguage } from "../../language/translation.js";

export type OptionName = NumberOptionName | "ignoreEos" | "stop";

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

/** Where the page differs from the option itself, with caption and help text in each language. */
type Row = Partial<NumberOption> & Readonly<Record<Language, string[]>>;

const rows: ReadonlyMap<string, Row | undefined> = new Map(table.map(({ name, page }) => [name, page]));

/** Caption and help text of an option, in the page's language. */
export function wordsOf(name: OptionName): { caption: string; help: string } {
  const [caption = "", help = ""] = rows.get(name)?.[currentLanguage.peek().language] ?? [];
  return { caption, help };
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

export const numberOptions: readonly NumberOption[] = numberOptionNames.map((name) => {
  const { least, most, isWhole, initial } = ranges[name];
  return { name, min: least, max: most, isWhole, initial, step: 1, ...rows.get(name) };
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
