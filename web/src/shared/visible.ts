// The text of a token as a reader sees it.

const signs = new Map(Object.entries({ " ": "␣", "\u00a0": "␣", "\n": "↵", "\r": "↵", "\t": "⇥" }));

/** Replaces invisible characters with visible signs. */
export const visible = (text: string): string => text.replace(/\s/g, (sign) => signs.get(sign) ?? "␣");

/** Splits a text into visible letters; without browser support, as in Firefox before 125, into characters. */
export function lettersOf(text: string): string[] {
  if (!("Segmenter" in Intl)) return Array.from(text);
  return Array.from(new Intl.Segmenter().segment(text), ({ segment }) => segment);
}
