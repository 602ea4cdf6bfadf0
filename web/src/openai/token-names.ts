// Names of tokens as in OpenAI's API: their text or, for parts of characters, "bytes:" and the bytes.
import type { Model, TokenLogprob } from "../client/index.js";

/** The names of tokens with parts of characters that were already asked for. */
const known = new WeakMap<Model, Map<number, string>>();

const showByte = (byte: number) =>
  byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : `\\x${byte.toString(16).padStart(2, "0")}`;

/**
 * The bytes of a token. A decoder shows only whole characters, so this tries the token as a part of each kind of character.
 * undefined if no character has it, or the vocabulary lacks tokens of single bytes.
 */
async function bytesOf(
  model: Model,
  id: number,
  signal: AbortSignal | undefined,
): Promise<string | undefined> {
  const bytes = await model.tokenize("\u{f0000}", { signal }); // F3 B0 80 80
  const [, b0 = 0, , end = 0] = bytes;
  if (bytes.length !== 4) return undefined;
  for (const before of [[], bytes.slice(0, 1), bytes.slice(0, 2), bytes.slice(0, 3)]) {
    for (const after of [[], [end], [end, end], [end, end, end], [b0, end], [b0, end, end]]) {
      const text = await model.detokenize([...before, id, ...after], { signal });
      if (text.includes("\ufffd")) continue;
      const all = new TextEncoder().encode(text);
      return Array.from(all.slice(before.length, all.length - after.length), showByte).join("");
    }
  }
  return undefined;
}

/** `token` with its name as its text. */
export async function named<T extends { id: number; text: string }>(
  model: Model,
  token: T,
  signal: AbortSignal | undefined,
): Promise<T> {
  const { id, text } = token;
  if (!text.includes("\ufffd")) return token;
  const names = known.get(model) ?? new Map<number, string>();
  known.set(model, names);
  let name = names.get(id);
  if (name === undefined) {
    const bytes = await bytesOf(model, id, signal);
    name = bytes === undefined ? text : `bytes:${bytes}`;
    names.set(id, name);
  }
  return { ...token, text: name };
}

/** The names of `tokens`, each of which differs: a later token with the same text has its id behind it. */
export function uniqueNames(tokens: readonly Pick<TokenLogprob, "id" | "text">[]): Map<number, string> {
  const names = new Map<number, string>();
  const taken = new Set<string>();
  for (const { id, text } of tokens) {
    names.set(id, taken.has(text) ? `${text} (token ${id})` : text);
    taken.add(text);
  }
  return names;
}
