// Detects a question to the model, which does not answer questions.

const speech = /["“”„«»‘]|^['’–—-]/u;

/** In UTF-16 code units: longer ones are parts of stories. */
const mostUnits = 200;

/** Matches one of `beginnings`, which are separated by bars, at the start of a sentence. */
export const questionPattern = (beginnings: string): RegExp =>
  new RegExp(`^(?:${beginnings})(?![\\p{L}\\p{M}])`, "iu");

/**
 * Whether `before`, a line up to the caret, ends in a question to the model. It must not be a character's speech, and must
 * begin with one of `beginnings`.
 */
export function isQuestionToModel(before: string, beginnings: RegExp): boolean {
  const line = before.trim();
  if (!/[?？]$/.test(line) || line.length > mostUnits || speech.test(line)) return false;
  const [sentence = ""] = line.split(/(?<=[.!…:])\s+/u).slice(-1);
  return beginnings.test(sentence);
}
