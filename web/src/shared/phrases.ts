// Phrases with values in braces: "Layer {layer}". A phrase with a number has a form for each category of Intl.PluralRules,
// chosen by {count}.

/** A phrase whose form a number chooses, as Intl.PluralRules names the forms. */
export type Forms = Partial<Record<Intl.LDMLPluralRule, string>> & { readonly other: string };

/** The names that stand in braces. */
type NamesIn<Text extends string> = Text extends `${string}{${infer Name}}${infer Rest}`
  ? Name | NamesIn<Rest>
  : never;
type NamesOf<Phrase> = Phrase extends string
  ? NamesIn<Phrase>
  : Phrase extends { other: infer Other extends string }
    ? NamesIn<Other> | "count"
    : never;
/** The values that a phrase needs: a number is written as its language has it, and {count} is one. */
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

/** Returns a phrase of `Section` by its name, with the values that it needs. */
export type PhraseOf<Section> = <Key extends keyof Section & string>(
  key: Key,
  ...values: ValuesOf<Section[Key]>
) => string;

/** The same phrases in another language, with forms where the English ones have them. */
export type Translated<Section> = {
  readonly [Key in keyof Section]: Section[Key] extends string ? string : Forms;
};

export type Values = Readonly<Record<string, string | number>>;

/** `phrase` of `language` with `values` in their places. */
export function fillPhrase(
  phrase: string | Forms,
  values: Values,
  language: string,
  formatNumber: (value: number) => string,
): string {
  const form =
    typeof phrase === "string"
      ? phrase
      : (phrase[new Intl.PluralRules(language).select(Number(values.count))] ?? phrase.other);
  return form.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = values[name] ?? "";
    return typeof value === "number" ? formatNumber(value) : value;
  });
}
