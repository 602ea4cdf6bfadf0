// Which tokens only write the end of a prompt again, as it is healed: a number of tokens to write does not count them.
import type { Token } from "../../src/client/index.js";

/**
 * How many of `tokens`, which a model wrote one after the other, only heal the prompt. They have no text; but neither
 * has a token that is part of a character, or that may begin a stop text. `detokenize` is of the same model.
 */
export async function countHealing(
  tokens: readonly Pick<Token, "id" | "text">[],
  detokenize: (ids: number[]) => Promise<string>,
): Promise<number> {
  const first = tokens.findIndex(({ text }) => text !== "");
  if (first < 1) return 0;
  const ids = tokens.map(({ id }) => id);
  const whole = await detokenize(ids.slice(0, first + 1));
  const healed = whole.slice(0, whole.lastIndexOf(tokens[first]?.text ?? ""));
  for (let count = first; count > 0; --count) {
    if (healed.startsWith(await detokenize(ids.slice(0, count)))) return count;
  }
  return 0;
}
