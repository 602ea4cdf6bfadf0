// What causes what inside a model: built on captures and changes of the forward pass. Loaded on demand.
import { readOptions, readCallback, readSignal } from "../shared/arguments.js";
import { describeValue, readCount, refuse } from "../shared/refuse.js";
import type { Captured, Change, Prompt, PromptProgress } from "../shared/types.js";
import { readChoice } from "./arguments.js";
import { forEachColumn } from "./output-layer.js";
import { capture, idOf, row, type Subject } from "./subject.js";

export { attribute, type Attribution } from "./attribute.js";

/** How a head attends, each from 0 to 1: means over the tokens of a random text that is repeated once. */
export interface HeadScores {
  /** Its layer, from 0. */
  layer: number;
  /** Its number in the layer, from 0. */
  head: number;
  /** Attention to the token before. */
  previousToken: number;
  /** Attention to the first token. */
  firstToken: number;
  /** In the repetition: attention to the token that followed the same token before (Olsson et al. 2022). */
  induction: number;
}

/** A token whose row in the output layer is similar. GPT-2's output layer has the rows of the embedding. */
export interface Neighbour {
  /** Its id. */
  id: number;
  /** Its text. */
  text: string;
  /** The cosine of the angle between the rows, from -1 to 1. */
  cosine: number;
}

/** What patching each place of a text does to its prediction. */
export interface PatchMap {
  /** The logit of `token`, minus that of `against`, with each place patched: [layers, tokens]. */
  map: Float32Array;
  /** The layers of the model. */
  layers: number;
  /** The tokens of both texts. */
  tokens: number;
  /** The same of the clean text. */
  clean: number;
  /** The same of the corrupted text, without a patch. */
  corrupted: number;
}

/** Whole numbers below `end` from a seed: mulberry32. */
function randomNumbers(seed: number, count: number, end: number): number[] {
  let state = seed;
  return Array.from({ length: count }, () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * end);
  });
}

/** The longest random text, before it is repeated. More tokens change the means little. */
const mostRepeated = 50;

/** Implements Model.heads. */
export async function heads(model: Subject, call: unknown): Promise<HeadScores[]> {
  const fields = readOptions("heads", call, ["seed", "signal"]);
  const signal = readSignal(fields.signal);
  const seed = readCount("seed", fields.seed, 0) ?? 1;
  const { vocabSize, nPositions, nHead } = model.info.config;
  const length = Math.min(mostRepeated, nPositions >> 1);
  if (length < 2) refuse(`the context holds ${nPositions} tokens, but a repeated text needs 4`);
  const once = randomNumbers(seed, length, vocabSize);
  const { places } = await capture(model, [...once, ...once], ["blocks.*.attn.pattern"], signal);
  const tokens = 2 * length;
  const mean = (pattern: Float32Array, first: number, of: (query: number) => number) => {
    let sum = 0;
    for (let query = first; query < tokens; query += 1) sum += pattern[query * tokens + of(query)] ?? 0;
    return sum / (tokens - first);
  };
  return places.flatMap((place, layer) =>
    Array.from({ length: nHead }, (_, head) => {
      const pattern = row(place.data, head, tokens * tokens);
      return {
        layer,
        head,
        previousToken: mean(pattern, 1, (query) => query - 1),
        firstToken: mean(pattern, 1, () => 0),
        induction: mean(pattern, length, (query) => query - length + 1),
      };
    }),
  );
}

const patchable = ["resid_pre", "attn_out", "resid_mid", "mlp_out", "resid_post"] as const;

/** Implements Model.patchMap. */
export async function patchMap(
  model: Subject,
  clean: Prompt,
  corrupted: Prompt,
  call: unknown,
): Promise<PatchMap> {
  const names = ["token", "against", "at", "signal", "onProgress"];
  const fields = readOptions("patchMap", call, names);
  const signal = readSignal(fields.signal);
  const onProgress = readCallback<PromptProgress>("onProgress", fields.onProgress);
  const at = readChoice("at", fields.at, patchable) ?? "resid_post";
  const token = await idOf(model, "token", fields.token, signal);
  const against =
    fields.against === undefined ? undefined : await idOf(model, "against", fields.against, signal);
  const source = await capture(model, clean, [`blocks.*.${at}`], signal);
  const tokens = source.ids.length;
  const other = (await capture(model, corrupted, ["embed"], signal)).ids.length;
  if (other !== tokens) refuse(`the texts have ${tokens} and ${other} tokens, expected the same number`);
  const layers = source.places.length;
  const logitOf = async (text: Prompt, change: Change[]) => {
    const { places } = await capture(model, text, ["logits"], signal, { change, positions: [tokens - 1] });
    const logits = places[0]?.data;
    return (logits?.[token] ?? 0) - (against === undefined ? 0 : (logits?.[against] ?? 0));
  };
  const map = new Float32Array(layers * tokens);
  const ends = { clean: await logitOf(clean, []), corrupted: await logitOf(corrupted, []) };
  for (const [layer, from] of source.places.entries()) {
    for (let position = 0; position < tokens; position += 1) {
      const done = layer * tokens + position;
      map[done] = await logitOf(corrupted, [{ at: `blocks.${layer}.${at}`, position, from }]);
      onProgress?.({ done: done + 1, total: map.length });
    }
  }
  return { map, layers, tokens, ...ends };
}

/** The mean of the rows of one place, or its last row. */
function pooled({ data, shape: [rows = 0, width = 0] }: Captured, pooling: "mean" | "last"): Float32Array {
  if (pooling === "last") return data.slice((rows - 1) * width, rows * width);
  return Float32Array.from({ length: width }, (_, column) => {
    let sum = 0;
    for (let at = column; at < data.length; at += width) sum += data[at] ?? 0;
    return sum / rows;
  });
}

function readTexts(name: string, value: unknown): readonly Prompt[] {
  if (!Array.isArray(value)) return refuse(`${name} is ${describeValue(value)}, expected a list of texts`);
  return value.length > 0 ? (value as Prompt[]) : refuse(`${name} is empty, expected at least one text`);
}

/** Implements Model.embed. */
export async function embed(model: Subject, texts: unknown, call: unknown): Promise<Float32Array[]> {
  const fields = readOptions("embed", call, ["pooling", "signal"]);
  const signal = readSignal(fields.signal);
  const pooling = readChoice("pooling", fields.pooling, ["mean", "last"]) ?? "mean";
  const vectors: Float32Array[] = [];
  for (const text of readTexts("texts", texts)) {
    const { places } = await capture(model, text, ["ln_final.normalized"], signal);
    const vector = places[0] ? pooled(places[0], pooling) : new Float32Array();
    const length = Math.hypot(...vector) || 1;
    vectors.push(vector.map((value) => value / length));
  }
  return vectors;
}

/** Implements Model.steer. */
export async function steer(
  model: Subject,
  positive: unknown,
  negative: unknown,
  at: string,
  call: unknown,
): Promise<Float32Array> {
  const signal = readSignal(readOptions("steer", call, ["signal"]).signal);
  const meanOf = async (name: string, texts: unknown) => {
    const all = readTexts(name, texts);
    let sum: Float32Array | undefined;
    for (const text of all) {
      const { places } = await capture(model, text, [at], signal);
      const [place] = places;
      if (places.length !== 1 || place?.shape.length !== 2)
        return refuse(`at is ${describeValue(at)}, expected a place of one layer without heads`);
      const vector = pooled(place, "mean");
      sum = sum ? sum.map((value, i) => value + (vector[i] ?? 0)) : vector;
    }
    return (sum ?? new Float32Array()).map((value) => value / all.length);
  };
  const [one, other] = [await meanOf("positive", positive), await meanOf("negative", negative)];
  return one.map((value, i) => value - (other[i] ?? 0));
}

/** Implements Model.neighbours. */
export async function neighbours(model: Subject, token: unknown, call: unknown): Promise<Neighbour[]> {
  const fields = readOptions("neighbours", call, ["top", "signal"]);
  const signal = readSignal(fields.signal);
  const { vocabSize } = model.info.config;
  const top = readCount("top", fields.top, 1, vocabSize) ?? 10;
  const own = await idOf(model, "token", token, signal);
  const dots = new Float64Array(vocabSize);
  const squares = new Float64Array(vocabSize);
  await forEachColumn(model, signal, (_, values) => {
    const value = values[own] ?? 0;
    values.forEach((each, id) => {
      dots[id] = (dots[id] ?? 0) + value * each;
      squares[id] = (squares[id] ?? 0) + each * each;
    });
  });
  const cosine = (id: number) => (dots[id] ?? 0) / (Math.sqrt((squares[id] ?? 0) * (squares[own] ?? 0)) || 1);
  const nearest = [...dots.keys()]
    .filter((id) => id !== own)
    .map((id) => ({ id, cosine: cosine(id) }))
    .sort((one, other) => other.cosine - one.cosine)
    .slice(0, top);
  const textOf = (id: number) =>
    model.info.hasTokenizer ? model.detokenize([id], { signal }) : Promise.resolve(`#${id}`);
  return Promise.all(nearest.map(async (each) => ({ ...each, text: await textOf(each.id) })));
}
