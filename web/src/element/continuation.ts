// Computes what a model suggests after a text.
import type { GenerateCall, GenerateSummary, Model, Token } from "../client/index.js";
import { lettersOf } from "../shared/visible.js";

/**
 * In UTF-16 units. Only the end of a long text is the prompt, because the text before it hardly changes the suggestion. It begins
 * at a multiple of `unitsOfStep`, so that after most keys the cache holds all that was there before.
 */
const mostUnits = 2000;
const unitsOfStep = 500;

/** Healing completes a word, and does not write a typed space twice: GPT-2's tokens start with the space. */
const defaults: GenerateCall = { maxNewTokens: 12, temperature: 0, stop: "\n", heal: true };

/** The start of `text` that fits `length` UTF-16 units, up to the end of a whole visible character. */
export function truncate(text: string, length: number): string {
  if (text.length <= length) return text;
  let end = 0;
  for (const letter of lettersOf(text)) {
    if (end + letter.length > length) break;
    end += letter.length;
  }
  return text.slice(0, end);
}

/** The most passes until there is a word. */
const mostPasses = 3;

/** What `model` writes after `before`: "" if no pass writes a word. */
export async function continuationOf(
  model: Model,
  before: string,
  call: GenerateCall,
  onToken: (token: Token) => void,
): Promise<{ text: string; summary: GenerateSummary | null }> {
  const steps = Math.max(0, Math.ceil((before.length - mostUnits) / unitsOfStep));
  const prompt = before.slice(steps * unitsOfStep).replace(/^[\udc00-\udfff]/, ""); // drops half of a surrogate pair
  const given = Object.entries(call).filter(([, option]) => option != null);
  const options: GenerateCall = { ...defaults, ...Object.fromEntries(given) };
  let summary = null as GenerateSummary | null;
  const onSummary = (end: GenerateSummary) => {
    summary = end;
    return call.onSummary?.(end);
  };
  let text = "";
  for (let pass = 0; pass < mostPasses && text.trim() === ""; pass += 1) {
    // White space that has reached the limit goes on. Where the model ended, another draw may write a word.
    if (summary?.finishReason !== "length") {
      if (pass > 0 && (options.temperature === 0 || options.seed !== undefined)) break; // it would end there again
      text = "";
    }
    for await (const token of model.generate(prompt + text, { ...options, onSummary })) {
      if (token.index === 0) text += token.text;
      onToken(token);
    }
  }
  return { text: text.trimEnd(), summary };
}
