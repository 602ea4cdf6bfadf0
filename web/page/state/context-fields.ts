// Two fields that the model reads in addition to the text. They are stored with the text, but are not part of it.

export interface ContextFields {
  /** Stays at the beginning of what the model reads, however long the text grows. */
  readonly remember: string;
  /** Stands a few sentences before the end of what the model reads. */
  readonly note: string;
}

/** The length of a field at most, in UTF-16 code units. */
export const mostUnits = 4000;

/** Returns undefined if both fields are empty. */
export const fieldsOf = (remember: string, note: string): ContextFields | undefined =>
  (remember + note).trim() === "" ? undefined : { remember, note };
