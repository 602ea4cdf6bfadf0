// What the visitor lets the model read beside the text. It is stored with the text, and is no part of it.

export interface ContextFields {
  /** Stays at the beginning of what the model reads, however long the text grows. */
  readonly remember: string;
  /** Stands a few sentences before the end of what the model reads. */
  readonly note: string;
}

/** Letters of a field at most. */
export const mostLetters = 4000;

/** undefined where nothing is written in either. */
export const fieldsOf = (remember: string, note: string): ContextFields | undefined =>
  (remember + note).trim() === "" ? undefined : { remember, note };
