// Whether somebody asks the model something, as if it answered.

const speech = /["“”„«»‘]|^['’–—-]/u;

/** Longer ones are parts of stories. */
const mostLetters = 200;

/** Finds one of `beginnings`, which bars part, at the beginning of a sentence. */
export const beginningsOf = (beginnings: string): RegExp =>
  new RegExp(`^(?:${beginnings})(?![\\p{L}\\p{M}])`, "iu");

/**
 * Whether `before`, a line up to the caret, ends in a question to the model: one that is nobody's speech, as in a story, and
 * begins as `beginnings` has it.
 */
export function asksModel(before: string, beginnings: RegExp): boolean {
  const line = before.trim();
  if (!/[?？]$/.test(line) || line.length > mostLetters || speech.test(line)) return false;
  const [sentence = ""] = line.split(/(?<=[.!…:])\s+/u).slice(-1);
  return beginnings.test(sentence);
}
