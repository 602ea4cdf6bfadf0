// What a model suggests after a text.
import type { GenerateCall, GenerateSummary, Model, Token } from "../client/index.js";

/** In UTF-16 units. Only the end of a long text is the prompt: what is before it hardly changes the suggestion. */
const mostLetters = 2000;

const defaults: GenerateCall = { maxNewTokens: 12, temperature: 0, stop: "\n" };

/** As much of `text` as `length` UTF-16 units hold, up to the end of a character as people see it. */
export function truncate(text: string, length: number): string {
  if (text.length <= length) return text;
  const ends = Array.from(new Intl.Segmenter().segment(text), ({ index, segment }) => index + segment.length);
  return text.slice(0, Math.max(0, ...ends.filter((end) => end <= length)));
}

/** What `model` writes after `before`; "" if that would not start with the space that is typed already. */
export async function continuationOf(
  model: Model,
  before: string,
  call: GenerateCall,
  onToken: (token: Token) => void,
): Promise<{ text: string; summary: GenerateSummary | null }> {
  // GPT-2's tokens begin with the space: a typed one is cut from the prompt, written again by the model, and removed.
  const space = / ?$/.exec(before)?.[0] ?? "";
  const end = before.slice(0, before.length - space.length).slice(-mostLetters);
  const prompt = end.replace(/^[\udc00-\udfff]/, ""); // not half of a character
  const given = Object.entries(call).filter(([, option]) => option != null);
  let summary: GenerateSummary | null = null;
  const onSummary = (end: GenerateSummary) => void (summary = end);
  let text = "";
  for await (const token of model.generate(prompt, {
    ...defaults,
    ...Object.fromEntries(given),
    onSummary,
  })) {
    text += token.text;
    onToken(token);
  }
  return { text: text.startsWith(space) ? text.slice(space.length).trimEnd() : "", summary };
}
