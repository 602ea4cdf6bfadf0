// What a language has to say: the sections of en.ts and the words of the figures, and their form in other languages.
import type { InsideWords } from "../../src/figures/index.js";
import type { Translated } from "../../src/shared/phrases.js";
import type * as english from "./en.js";

export type Sections = typeof english;

/** All that a language has to say; what nothing can put in place is English everywhere. */
export type Translation = {
  readonly [Name in Exclude<keyof Sections, "scriptless">]: Translated<Sections[Name]>;
} & {
  /** The English of these comes with the package. */
  readonly figures: InsideWords;
};
