// Ends a text at a stop string that one call of the model begins and the next one completes. Stop strings within one call end
// that call by themselves.
import type { Token } from "../../src/client/index.js";

const textOf = (tokens: readonly Token[]) => tokens.map(({ text }) => text).join("");

/** Length of the end of `text` with which one of `stops` could begin. */
function beginningOf(text: string, stops: readonly string[]): number {
  let most = 0;
  for (const stop of stops) {
    for (let length = Math.min(stop.length - 1, text.length); length > most; length -= 1)
      if (text.endsWith(stop.slice(0, length))) most = length;
  }
  return most;
}

/** `tokens` with the first `length` characters of their text. */
function cut(tokens: readonly Token[], length: number): Token[] {
  let left = length;
  return tokens.map((token) => {
    const text = token.text.slice(0, left);
    left -= text.length;
    return { ...token, text };
  });
}

/**
 * The tokens up to the one of `stops` that is complete first, as in engine/generate/stop_matcher.h, whose text they leave out.
 * Returns whether there was one. Holds tokens back while a stop string could begin in them.
 */
export async function* untilStop(
  tokens: AsyncIterable<Token>,
  stops: readonly string[],
): AsyncGenerator<Token, boolean, void> {
  const held: Token[] = [];
  for await (const token of tokens) {
    held.push(token);
    const text = textOf(held);
    const [found] = stops
      .map((stop) => ({ at: text.indexOf(stop), length: stop.length }))
      .filter(({ at }) => at !== -1)
      .sort((one, other) => one.at + one.length - (other.at + other.length) || one.at - other.at);
    if (found) {
      yield* cut(held, found.at);
      return true;
    }
    const begins = text.length - beginningOf(text, stops);
    let end = 0;
    const split = held.findIndex((each) => (end += each.text.length) > begins);
    yield* held.splice(0, split === -1 ? held.length : split);
  }
  yield* held;
  return false;
}
