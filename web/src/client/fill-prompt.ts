// The prompt of a model that was trained to fill in what is missing between two texts (Bavarian et al. 2022: "Efficient
// Training of Language Models to Fill in the Middle").
import { refuse } from "../shared/refuse.js";
import type { Model } from "./model.js";

/** The tokens before the first text, before the second, and before what is missing. StarCoder's, and SantaCoder's. */
const marks = [
  ["<fim_prefix>", "<fim_suffix>", "<fim_middle>"],
  ["<fim-prefix>", "<fim-suffix>", "<fim-middle>"],
] as const;

type Tokenizer = Pick<Model, "tokenize">;

/** The ids of the three tokens. A model without them is refused. */
async function markIds(model: Tokenizer, signal: AbortSignal | undefined): Promise<[number, number, number]> {
  for (const names of marks) {
    const [prefix, suffix, middle, ...more] = await model.tokenize(names.join(""), {
      allowSpecial: true,
      signal,
    });
    if (prefix === undefined || suffix === undefined || middle === undefined) continue;
    if (more.length === 0) return [prefix, suffix, middle];
  }
  const expected = marks.map((names) => names.join(" ")).join(", or ");
  return refuse(`this model cannot fill in: its tokenizer lacks the tokens that mark the gap, ${expected}`);
}

/** Token ids that a model continues with what stands between `before` and `after`. Special tokens in the texts are text. */
export async function fillPrompt(
  model: Tokenizer,
  before: string,
  after: string,
  signal: AbortSignal | undefined,
): Promise<number[]> {
  const [prefix, suffix, middle] = await markIds(model, signal);
  const first = await model.tokenize(before, { signal });
  const second = await model.tokenize(after, { signal });
  return [prefix, ...first, suffix, ...second, middle];
}
