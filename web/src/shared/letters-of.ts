/** Splits a text into visible letters; without browser support, as in Firefox before 125, into characters. */
export function lettersOf(text: string): string[] {
  if (!("Segmenter" in Intl)) return Array.from(text);
  return Array.from(new Intl.Segmenter().segment(text), ({ segment }) => segment);
}
