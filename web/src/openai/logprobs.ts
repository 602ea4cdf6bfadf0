// Log-probabilities in the form of /v1/completions, for the text and the prompt.
import type { Model, Token, TokenLogprob } from "../client/index.js";
import { named, uniqueNames } from "./token-names.js";
import type { CompletionLogprobs } from "./types.js";

/** A token of a prompt or of a text. */
export interface LogprobToken {
  id: number;
  /** Its name: its own text, or "bytes:" and its bytes. */
  text: string;
  /** Where it begins in the text, in UTF-16 units. */
  offset: number;
  /** null for the first token of all. */
  logprob: number | null;
  top?: TokenLogprob[] | undefined;
}

/** The log-probabilities of `tokens`. */
export function logprobsOf(tokens: readonly LogprobToken[], alternatives: number): CompletionLogprobs {
  const tops = tokens.map(({ id, text, logprob, top = [] }) => {
    const all = top.some((each) => each.id === id) ? top : [...top, { id, text, logprob: logprob ?? 0 }];
    const names = uniqueNames(all);
    return {
      own: names.get(id) ?? text,
      all: all.map((each) => [names.get(each.id) ?? "", each.logprob] as const),
    };
  });
  return {
    tokens: tops.map(({ own }) => own),
    token_logprobs: tokens.map(({ logprob }) => logprob),
    top_logprobs:
      alternatives === 0
        ? null
        : tops.map(({ all }, i) => (tokens[i]?.logprob === null ? null : Object.fromEntries<number>(all))),
    text_offset: tokens.map(({ offset }) => offset),
  };
}

/** `token` and its alternatives with their names. */
async function allNamed(model: Model, token: LogprobToken, signal: AbortSignal | undefined) {
  const top: TokenLogprob[] = [];
  for (const each of token.top ?? []) top.push(await named(model, each, signal));
  return { ...(await named(model, token, signal)), top };
}

/**
 * The text of a token inside a text. Decoders drop the space before a first token, so this decodes the token twice in a row
 * and returns what the second one adds. If the two join into one character, it decodes the token alone.
 */
async function textOf(model: Model, id: number, signal: AbortSignal | undefined): Promise<string> {
  const first = await model.detokenize([id], { signal });
  const both = await model.detokenize([id, id], { signal });
  return both.startsWith(first) ? both.slice(first.length) : first;
}

/**
 * Reads the tokens of one continuation, in order. `Token.text` is the text that became final with a token; this finds the
 * token's own text and its offset. The continuation begins at offset `end`.
 */
export function tokenReader(model: Model, end: number, signal: AbortSignal | undefined) {
  /** Text that is not final yet, without parts of characters. */
  let held = "";
  return async (token: Token): Promise<LogprobToken> => {
    const { id, top } = token;
    const text = top?.find((each) => each.id === id)?.text ?? (await textOf(model, id, signal));
    const offset = end + held.length;
    end += token.text.length;
    held += text.replaceAll("\ufffd", "");
    held = held.startsWith(token.text) ? held.slice(token.text.length) : "";
    return allNamed(model, { ...token, text, offset }, signal);
  };
}

/** The tokens of a prompt, whose text is `text`, each with its alternatives. */
export async function scorePrompt(
  model: Model,
  prompt: string | number[],
  text: string,
  alternatives: number,
  signal: AbortSignal | undefined,
): Promise<LogprobToken[]> {
  const ids = typeof prompt === "string" ? await model.tokenize(prompt, { signal }) : prompt;
  if (ids.length === 0) return [];
  const whole: LogprobToken[] = [];
  let end = 0;
  for (const [index, token] of (await model.score(ids, { signal })).tokens.entries()) {
    // The text before is already computed, so each token costs one step.
    const call = { maxNewTokens: 1, temperature: 0, logprobs: alternatives, ignoreEos: true, signal };
    const isFirst = index === 0 || alternatives === 0;
    const next = isFirst ? undefined : await model.complete(ids.slice(0, index), call);
    const characters = token.text.replaceAll("\ufffd", ""); // parts of characters have no place of their own
    const offset = Math.max(end, text.indexOf(characters, end));
    whole.push(await allNamed(model, { ...token, offset, top: next?.tokens[0]?.top }, signal));
    end = offset + characters.length;
  }
  return whole;
}
