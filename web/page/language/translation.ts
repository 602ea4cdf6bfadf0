// The language of the page, and its words where that is not English. choose.mjs has chosen it before the first paint.
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

/** The languages there are, each by its own name. */
export const languages = { en: "English", de: "Deutsch" } as const;
export type Language = keyof typeof languages;

/** Undefined: the page is in English. */
export let translation: Translation | undefined;
export let language: Language = "en";

/** Brings the words of the language that choose.mjs has chosen; without them the page is in English. */
export async function loadTranslation(): Promise<void> {
  const root = document.documentElement;
  if (root.lang !== "de") return;
  try {
    translation = await import("./de.js");
    language = "de";
  } catch {
    root.lang = language;
  }
}
