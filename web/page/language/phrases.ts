// Asking for a phrase of the page in its language: phrase("stopped", { count: 3 }). Not while a module of the first paint is
// imported: another language comes only then.
import { formatNumber } from "./numbers.js";
import { currentLanguage } from "./translation.js";
import type { Forms, Sections, Translation } from "./sections.js";

/** The names that stand in braces. */
type NamesIn<Text extends string> = Text extends `${string}{${infer Name}}${infer Rest}`
  ? Name | NamesIn<Rest>
  : never;
type NamesOf<Phrase> = Phrase extends string
  ? NamesIn<Phrase>
  : Phrase extends { other: infer Other extends string }
    ? NamesIn<Other> | "count"
    : never;
/** What has to be given with a phrase: a number is written as its language has it, and {count} is one. */
type ValuesOf<Phrase> = [NamesOf<Phrase>] extends [never]
  ? []
  : [
      values: {
        [Name in NamesOf<Phrase>]: Phrase extends string
          ? string | number
          : Name extends "count"
            ? number
            : string | number;
      },
    ];

type Values = Readonly<Record<string, string | number>>;

/** Gives a phrase of a section by its name, with the values that it wants. */
export type Phrase<Name extends keyof Translation> = <Key extends keyof Sections[Name] & string>(
  key: Key,
  ...values: ValuesOf<Sections[Name][Key]>
) => string;

/** `phrase` with `values` in their places, in the language `of`. */
export function fill(
  phrase: string | Forms,
  values: Values = {},
  of: string = currentLanguage.peek().language,
): string {
  const form = typeof phrase === "string" ? phrase : formFor(phrase, Number(values.count), of);
  return form.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = values[name] ?? "";
    return typeof value === "number" ? formatNumber(value) : value;
  });
}

const formFor = (forms: Forms, count: number, of: string): string =>
  forms[new Intl.PluralRules(of).select(count)] ?? forms.other;

/** Gives the phrases of one section, whose English comes with the part of the page that says them. */
export function phrasesOf<Name extends keyof Translation>(name: Name, english: Sections[Name]): Phrase<Name> {
  return (key, ...[values]) => {
    const section = (currentLanguage.peek().words?.[name] ?? english) as Readonly<
      Record<string, string | Forms>
    >;
    return fill(section[key] ?? "", values);
  };
}
