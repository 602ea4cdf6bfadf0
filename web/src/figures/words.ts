// The words of the figures: English is built in, and others can be given.
import { figureWords } from "./figures.js";
import { formatIn } from "../shared/numbers.js";
import { percentIn } from "../shared/numbers.js";
import { fillPhrase, type PhraseOf } from "../shared/phrases.js";
import { describeValue, refuse } from "../shared/refuse.js";

/**
 * The English words of `showInside`. `{name}` stands for a value. `{residual}`, `{attention}` and the names of other parts stand
 * for a link to that part of the model. A phrase with a number has one form for each category of `Intl.PluralRules`.
 */
export const insideWords = {
  diagram: "The parts of GPT-2",
  pressPart: "Press a part to read what it does.",
  layers: { one: "{count} layer", other: "{count} layers" },
  "part.embedding": "embedding",
  "part.positions": "positions",
  "part.residual": "residual stream",
  "part.attention": "attention",
  "part.mlp": "MLP",
  "part.unembedding": "unembedding",
  "part.embedding.help":
    "Each of the {vocabSize} tokens has a row of {nEmbd} learned numbers. “{token}”, id {id}, enters the model as its row.",
  "part.positions.help":
    "Each of {nPositions} places has {nEmbd} numbers, too. Those of place {place} are added to the token's: they encode the order of the tokens.",
  "part.residual.help":
    "It carries the {nEmbd} numbers of a token through the layers. Attention and MLP read them and add their results; nothing is overwritten.",
  "part.attention.help":
    "It moves information between tokens. Each of a layer's {nHead} heads gives a weight to every token up to this one, and adds up their information by these weights.",
  "part.mlp.help":
    "It processes each token alone. It turns {nEmbd} numbers into {nInner}, most of them close to zero, and these into {nEmbd}, which it adds to the stream. Each layer's guess is the result of attention and MLP together: switch the MLP off to see its part.",
  "part.unembedding.help":
    "It compares the normalised numbers with a row for each of the {vocabSize} tokens. The more similar the row, the more probable is its token.",
  "part.unembedding.tied":
    "It compares the normalised numbers with the embedding's row of each of the {vocabSize} tokens. The more similar the row, the more probable is its token.",

  layer: "Layer",
  head: "Head",
  share: "“{token}” {share}",

  asTable: "As a table",
  asList: "As a list",
  ...figureWords,
} as const;

/** A phrase whose form a number chooses: one for each category of `Intl.PluralRules`, at least `other`. */
export type PhraseForms = Partial<Record<Intl.LDMLPluralRule, string>> & { readonly other: string };

/** Words for `showInside` in another language: the phrases of `insideWords`. */
export type InsideWords = {
  readonly [Key in keyof typeof insideWords]: (typeof insideWords)[Key] extends string ? string : PhraseForms;
};

/** Checks `words` from a caller. */
export function readWords(words: unknown): Partial<InsideWords> {
  if (words === undefined || words === null) return {};
  if (typeof words !== "object" || Array.isArray(words))
    return refuse(`words is ${describeValue(words)}, expected an object`);
  for (const [name, phrase] of Object.entries(words)) {
    if (!Object.hasOwn(insideWords, name)) refuse(`words has the unknown name ${describeValue(name)}`);
    const isNumbered = typeof insideWords[name as keyof InsideWords] === "object";
    const isForms = typeof phrase === "object" && typeof (phrase as PhraseForms | null)?.other === "string";
    if (phrase === undefined || (isNumbered ? isForms : typeof phrase === "string")) continue;
    const expected = isNumbered ? "forms with the key other" : "text";
    refuse(`words["${name}"] is ${describeValue(phrase)}, expected ${expected}`);
  }
  return words;
}

/** Checks `language` from a caller: English by default. */
export function readLanguage(language: unknown): string {
  if (language === undefined || language === null) return "en";
  try {
    if (typeof language === "string") return new Intl.Locale(language).toString();
  } catch {
    // Intl's message does not name the option.
  }
  return refuse(`language is ${describeValue(language)}, expected a BCP 47 tag such as "de" or "en-GB"`);
}

/** The texts of a figure in one language. */
export class InsideText {
  private readonly words: Partial<InsideWords>;
  private readonly language: string;
  /** Of the headings. */
  readonly level: number;

  /** Missing `words` are English. `language` is a BCP 47 tag that determines how numbers are written. */
  constructor(words: Partial<InsideWords>, language: string, level = 3) {
    this.words = words;
    this.language = language;
    this.level = level;
  }

  readonly phrase: PhraseOf<typeof insideWords> = (key, ...[values]) =>
    fillPhrase(this.words[key] ?? insideWords[key], values ?? {}, this.language, (value) =>
      formatIn(this.language, { maximumFractionDigits: 0 }).format(value),
    );

  /** A fraction as a percentage: "82%", "3.1%", "< 0.1%". */
  percent(share: number): string {
    return percentIn(this.language, share);
  }
}
