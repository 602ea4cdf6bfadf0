// The numbers among the sampling options: their names, ranges and initial values.
import type { GenerationDefaults } from "../../../src/client/index.js";
import { phrase } from "../../language/start.js";

/** Tokens that a generation writes where neither its caller nor the model says how many. */
const usualLength = 64;

export interface NumberOption {
  name: "maxNewTokens" | "temperature" | "topK" | "topP" | "minP" | "repetitionPenalty" | "seed";
  min: number;
  max: number;
  isWhole: boolean;
  /** What one press of an arrow key adds; values between are as good. */
  step: number;
  /** Until a model is loaded, and what an emptied field means then; null: the engine chooses. */
  initial: number | null;
  /** Where a slider beside the field ends, which begins at `min`; undefined: there is none. */
  sliderTo?: number;
}

/** Settings by what they are good for. */
export interface Preset {
  name: "precise" | "balanced" | "wild";
  /** Those that are not named are as the model has them. */
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

export const numberOptions: readonly NumberOption[] = [
  {
    name: "maxNewTokens",
    min: 1,
    max: 4096,
    isWhole: true,
    step: 1,
    initial: 200,
  },
  {
    name: "temperature",
    min: 0,
    max: 5,
    isWhole: false,
    step: 0.05,
    initial: 0.8,
    sliderTo: 2,
  },
  {
    name: "topK",
    min: 0,
    max: 100000,
    isWhole: true,
    step: 1,
    initial: 40,
    sliderTo: 100,
  },
  {
    name: "topP",
    min: 0,
    max: 1,
    isWhole: false,
    step: 0.01,
    initial: 0.95,
    sliderTo: 1,
  },
  {
    name: "minP",
    min: 0,
    max: 1,
    isWhole: false,
    step: 0.01,
    initial: 0,
    sliderTo: 0.5,
  },
  {
    name: "repetitionPenalty",
    min: 0.1,
    max: 10,
    isWhole: false,
    step: 0.05,
    initial: 1,
    sliderTo: 2,
  },
  {
    name: "seed",
    min: 0,
    max: Number.MAX_SAFE_INTEGER,
    isWhole: true,
    step: 1,
    initial: null,
  },
];

/** What `option` is with a model of these defaults; this page's own length stays where the model has none. */
export function initialOf(
  { name, initial }: NumberOption,
  defaults: Readonly<Partial<GenerationDefaults>>,
): number | null {
  if (name === "seed" || (name === "maxNewTokens" && defaults[name] === usualLength)) return initial;
  return defaults[name] ?? initial;
}

/** What is wrong with the value of `input`, in words; undefined: nothing. */
export function refusalOf({ min, max, isWhole }: NumberOption, input: HTMLInputElement): string | undefined {
  const range = { min: String(min), max: String(max) };
  // The browser does not tell a page what was typed where it is not a number.
  if (input.validity.badInput) return phrase(isWhole ? "expectedWhole" : "expectedNumber", range);
  if (input.value === "") return undefined;
  const value = input.valueAsNumber;
  const fits = value >= min && value <= max && (!isWhole || Number.isInteger(value));
  if (fits) return undefined;
  return phrase(isWhole ? "foundWhole" : "foundNumber", { ...range, found: input.value });
}
