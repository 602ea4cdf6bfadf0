// What the model writes, for those who hear the page: sentence by sentence, not token by token.
import { elements as ui } from "../../dom/elements.js";

const sentenceEnd = /[.!?…]["”’')\]]*\s|\n/g;

/** What is only a full stop, or a line of dashes, waits for the sentence after it. */
const hasWords = (text: string) => /[\p{L}\p{N}]/u.test(text);

let unsaid = "";

/** Says `sentence`, whatever the model writes. */
export function speakNow(sentence: string): void {
  ui.spoken.textContent = sentence;
}

/** Says the sentences that are whole, and keeps the rest. */
export function speak(text: string): void {
  unsaid += text;
  let end = 0;
  for (const match of unsaid.matchAll(sentenceEnd)) end = match.index + match[0].length;
  if (end === 0) return;
  const whole = unsaid.slice(0, end).trim();
  if (!hasWords(whole)) return;
  ui.spoken.textContent = whole;
  unsaid = unsaid.slice(end);
}

/** Says what is left, when nothing more comes. */
export function finishSpeech(): void {
  if (hasWords(unsaid)) ui.spoken.textContent = unsaid.trim();
  unsaid = "";
}
