// The words of a language: the sections of en.ts and the words of the figures, and their form in other languages.
import type { InsideWords } from "../../src/figures/index.js";
import type { Translated } from "../../src/shared/phrases.js";
import type * as english from "./en.js";

export type Sections = typeof english;

/** All words of a language, except `scriptless`: without scripts, nothing can replace the English. */
export type Translation = {
  readonly [Name in Exclude<keyof Sections, "scriptless">]: Translated<Sections[Name]>;
} & {
  /** The package has the English words of the figures. */
  readonly figures: InsideWords;
};
