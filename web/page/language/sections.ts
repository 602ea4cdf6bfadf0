// What a language has to say: the sections of en.ts, and their form in other languages.
import type * as english from "./en.js";

export type Sections = typeof english;

/** A phrase whose form a number chooses, as Intl.PluralRules names the forms. */
export type Forms = Partial<Record<Intl.LDMLPluralRule, string>> & { readonly other: string };

/** A section in another language: the same phrases, with forms where the English ones have them. */
export type Translated<Section> = {
  readonly [Key in keyof Section]: Section[Key] extends string ? string : Forms;
};

/** All that a language has to say; what nothing can put in place is English everywhere. */
export type Translation = {
  readonly [Name in Exclude<keyof Sections, "scriptless">]: Translated<Sections[Name]>;
};
