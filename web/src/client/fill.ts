// The prompt of a model that was trained to fill in what is missing between two texts (Bavarian et al. 2022: "Efficient
// Training of Language Models to Fill in the Middle").
import { refuse } from "../shared/refuse.js";
import { generateOptionNames } from "../shared/generate-options.js";
import { readGenerateOptions, readText } from "./arguments.js";
import { readOptions, readSignal } from "../shared/arguments.js";

/** The tokens before the first text, before the second, and before the missing part: StarCoder's and SantaCoder's. */
const marks = [
  ["<fim_prefix>", "<fim_suffix>", "<fim_middle>"],
  ["<fim-prefix>", "<fim-suffix>", "<fim-middle>"],
] as const;

type Tokenize = (text: string, allowSpecial: boolean) => Promise<number[]>;

/** The ids of the three tokens. Refuses a model without them. */
async function markIds(tokenize: Tokenize): Promise<[number, number, number]> {
  for (const names of marks) {
    const [prefix, suffix, middle, ...more] = await tokenize(names.join(""), true);
    if (prefix === undefined || suffix === undefined || middle === undefined) continue;
    const isUnknown = new Set([prefix, suffix, middle]).size < 3; // one token stands for every unknown one
    if (more.length === 0 && !isUnknown) return [prefix, suffix, middle];
  }
  const expected = marks.map((names) => names.join(" ")).join(", or ");
  return refuse(`this model cannot fill in: its tokenizer lacks the tokens that mark the gap, ${expected}`);
}

/** The part of Model that this file needs. Importing Model would be circular. */
interface Filler<T> {
  tokenize(
    text: string,
    options: { allowSpecial: boolean; signal: AbortSignal | undefined },
  ): Promise<number[]>;
  complete(prompt: number[], call: object): Promise<T>;
}

const callNames = ["change", "signal", "onPrompt", "onSummary"];
const without = ["heal", "strict", "allowSpecial"];
const names = [...generateOptionNames.filter((name) => !without.includes(name)), ...callNames];

/** Implements Model.fill. Special tokens in the texts are read as text. */
export async function fill<T>(model: Filler<T>, before: unknown, after: unknown, call: unknown): Promise<T> {
  const fields = readOptions("fill", call, names);
  const signal = readSignal(fields.signal);
  readGenerateOptions(
    Object.fromEntries(Object.entries(fields).filter(([name]) => !callNames.includes(name))),
  );
  const texts = [readText("before", before), readText("after", after)] as const;
  const start = await model.tokenize("", { allowSpecial: false, signal }); // what the tokenizer's template puts first
  const tokenize: Tokenize = async (text, allowSpecial) =>
    (await model.tokenize(text, { allowSpecial, signal })).slice(start.length);
  const [prefix, suffix, middle] = await markIds(tokenize);
  const first = await tokenize(texts[0], false);
  const second = await tokenize(texts[1], false);
  return model.complete([...start, prefix, ...first, suffix, ...second, middle], { ...fields, strict: true });
}
