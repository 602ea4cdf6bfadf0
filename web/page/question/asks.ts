// Whether somebody asks the model something, as if it answered.

const speech = /["“”„«»‘]|^['’–—-]/u;

/** Longer ones are parts of stories. */
const mostLetters = 200;

/**
 * Whether `text`, to the caret, ends in a question to the model: one that stands in a line of its own, is nobody's speech,
 * as in a story, and begins with one of `beginnings`, which bars part.
 */
export function asksModel(text: string, beginnings: string): boolean {
  const line = text.slice(text.lastIndexOf("\n") + 1).trim();
  if (!/[?？]$/.test(line) || line.length > mostLetters || speech.test(line)) return false;
  const [sentence = ""] = line.split(/(?<=[.!…:])\s+/u).slice(-1);
  return new RegExp(`^(${beginnings})(?![\\p{L}\\p{M}])`, "iu").test(sentence);
}
