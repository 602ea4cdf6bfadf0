// A text as it is stored, and who wrote which part of it.

/** Those that models are known to write; "": it is not known. */
export type TextLanguage = "en" | "";

/** Offsets between which a model wrote, and its language where that is known. */
export type Part = [from: number, to: number, lang?: "en"];

/** A text as it is stored, and given from one surface to the next. */
export interface KeptText {
  text: string;
  /** Offset of the caret. */
  caret: number;
  /** What the models wrote of it. */
  written: readonly Readonly<Part>[];
  /** Offsets of what was written last, where that is kept, too. */
  run?: readonly [from: number, to: number] | undefined;
  /** What can be undone and redone, where that is kept, too: see kept-history.ts. */
  history?: unknown;
  /** Its branches, where those are kept, too: see tree.ts. */
  tree?: unknown;
  /** What was written in the place of the run before, where that is kept, too: see alternatives.ts. */
  alternatives?: unknown;
  /** The text as it was changed where there was no editor yet; the caret is in it. */
  draft?: string | undefined;
}
