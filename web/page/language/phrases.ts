// Gets a phrase in the page's language: phrase("stopped", { count: 3 }). Do not call it while modules of the first paint are
// imported: the words of another language load later.
import { fillPhrase, type Forms, type PhraseOf, type Values } from "../../src/shared/phrases.js";
import { formatNumber } from "./numbers.js";
import { currentLanguage } from "./translation.js";
import type { Sections, Translation } from "./sections.js";

/** Returns a phrase of a section by its name, with the values that it needs. */
export type Phrase<Name extends keyof Sections> = PhraseOf<Sections[Name]>;

/** `phrase` with `values` in their places, in the language `of`. */
export const fill = (
  phrase: string | Forms,
  values: Values = {},
  of: string = currentLanguage.peek().language,
): string => fillPhrase(phrase, values, of, formatNumber);

/** Returns the phrases of one section, whose English loads with the part of the page that shows them. */
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
