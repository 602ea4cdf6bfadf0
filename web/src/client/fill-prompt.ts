// The prompt of a model that was trained to fill in what is missing between two texts (Bavarian et al. 2022: "Efficient
// Training of Language Models to Fill in the Middle").
import { refuse } from "../shared/refuse.js";

/** The tokens before the first text, before the second, and before what is missing. StarCoder's, and SantaCoder's. */
const marks = [
  ["<fim_prefix>", "<fim_suffix>", "<fim_middle>"],
  ["<fim-prefix>", "<fim-suffix>", "<fim-middle>"],
] as const;

type Tokenize = (text: string, allowSpecial: boolean) => Promise<number[]>;

/** The ids of the three tokens. A model without them is refused. */
async function markIds(tokenize: Tokenize): Promise<[number, number, number]> {
  for (const names of marks) {
    const [prefix, suffix, middle, ...more] = await tokenize(names.join(""), true);
    if (prefix === undefined || suffix === undefined || middle === undefined) continue;
    if (more.length === 0) return [prefix, suffix, middle];
  }
  const expected = marks.map((names) => names.join(" ")).join(", or ");
  return refuse(`this model cannot fill in: its tokenizer lacks the tokens that mark the gap, ${expected}`);
}

/** Token ids that a model continues with what stands between `before` and `after`. Special tokens in the texts are text. */
export async function fillPrompt(before: string, after: string, tokenize: Tokenize): Promise<number[]> {
  const [prefix, suffix, middle] = await markIds(tokenize);
  const first = await tokenize(before, false);
  const second = await tokenize(after, false);
  return [prefix, ...first, suffix, ...second, middle];
}
