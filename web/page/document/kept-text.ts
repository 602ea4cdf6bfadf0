// A text as it is stored, and who wrote which part of it.

/** The languages that models are known to write; "" if the language is unknown. */
export type TextLanguage = "en" | "";

/** Offsets of a range that a model wrote, and its language if known. */
export type Part = [from: number, to: number, lang?: "en"];

/** A text in its stored form, which also passes it from the plain field to the editor. */
export interface KeptText {
  text: string;
  /** Offset of the caret. */
  caret: number;
  /** The ranges that models wrote. */
  written: readonly Readonly<Part>[];
  /** Offsets of the last run, if stored. */
  run?: readonly [from: number, to: number] | undefined;
  /** The undo history, if stored: see kept-history.ts. */
  history?: unknown;
  /** The branches, if stored: see tree.ts. */
  tree?: unknown;
  /** The alternatives at the last run's place, if stored: see alternatives.ts. */
  alternatives?: unknown;
  /** The text with changes that were typed before the editor was loaded; `caret` is an offset in it. */
  draft?: string | undefined;
}
