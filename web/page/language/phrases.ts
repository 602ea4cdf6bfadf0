// Asking for a phrase of the page in its language: phrase("stopped", { count: 3 }). Not while a module of the first paint is
// imported: another language comes only then.
import { fillPhrase, type Forms, type PhraseOf, type Values } from "../../src/shared/phrases.js";
import { formatNumber } from "./numbers.js";
import { currentLanguage } from "./translation.js";
import type { Sections, Translation } from "./sections.js";

/** Gives a phrase of a section by its name, with the values that it wants. */
export type Phrase<Name extends keyof Sections> = PhraseOf<Sections[Name]>;

/** `phrase` with `values` in their places, in the language `of`. */
export const fill = (
  phrase: string | Forms,
  values: Values = {},
  of: string = currentLanguage.peek().language,
): string => fillPhrase(phrase, values, of, formatNumber);

/** Gives the phrases of one section, whose English comes with the part of the page that says them. */
export function phrasesOf<Name extends keyof Sections & keyof Translation>(
  name: Name,
  english: Sections[Name],
): Phrase<Name> {
  return (key, ...[values]) => {
    const section = (currentLanguage.peek().words?.[name] ?? english) as Readonly<
      Record<string, string | Forms>
    >;
    return fill(section[key] ?? "", values);
  };
}
