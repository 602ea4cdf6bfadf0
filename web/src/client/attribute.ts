// What each part of a model adds to the logit of a token. Captures read the weights, too: a pass in which values are set shows what
// the weights make of them.
import { readOptions, readCallback, readSignal } from "../shared/arguments.js";
import type { Change, Prompt, PromptProgress } from "../shared/types.js";
import { checkContext, mostPositions, outputRows } from "./output-layer.js";
import { capture, idOf, row, type Subject } from "./subject.js";

/**
 * The logit of a token as a sum. The final layer norm is a linear function here, with the scale that it has for this text. All
 * parts and `rounding` add up to `logit`.
 */
export interface Attribution {
  /** The token. */
  token: number;
  /** Its logit after the text, minus that of `against`. */
  logit: number;
  /** The embedding of the last token. */
  embedding: number;
  /** The embedding of its position. */
  position: number;
  /** Each head: [layers, heads]. */
  heads: Float32Array;
  /** Each head by the token whose values it reads: [layers, heads, tokens]. */
  sources: Float32Array;
  /** Each layer's MLP: [layers]. */
  mlps: Float32Array;
  /** The biases of the attention, of the final layer norm and of the output layer. */
  biases: number;
  /** The rest: what quantized weights, activations and caches round. */
  rounding: number;
}

/** Bytes that one pass captures of the values. */
const mostBytes = 1 << 27;

/** `values` minus their mean. */
function centred(values: ArrayLike<number>): number[] {
  const all = Array.from(values);
  const mean = all.reduce((sum, value) => sum + value, 0) / all.length;
  return all.map((value) => value - mean);
}

function dot(one: ArrayLike<number>, other: ArrayLike<number>): number {
  let sum = 0;
  for (let i = 0; i < one.length; i += 1) sum += (one[i] ?? 0) * (other[i] ?? 0);
  return sum;
}

/**
 * Gain and bias of the final layer norm, from its outputs for a vector and the opposite one. The logits for zeros are the biases of
 * the output layer.
 */
async function finalNorm(model: Subject, signal: AbortSignal | undefined) {
  const { nEmbd, nLayer, vocabSize } = model.info.config;
  const vector = Array.from({ length: nEmbd }, (_, index) => (index % 2 ? 1e3 : -1e3)); // its epsilon is too small to matter
  const at = `blocks.${nLayer - 1}.resid_post`;
  const change = [
    { at, position: 0, set: vector },
    { at, position: 1, set: vector.map((value) => -value) },
    { at: "ln_final.normalized", position: 2, set: 0 },
  ];
  const { captured } = await capture(model, [0, 0, 0], ["ln_final.normalized", "logits"], signal, { change });
  const [one, other] = [0, 1].map((index) => row(captured["ln_final.normalized"]?.data, index, nEmbd));
  const input = centred(vector);
  const scale = Math.sqrt(dot(input, input) / nEmbd);
  const half = (column: number, sign: 1 | -1) => ((one?.[column] ?? 0) + sign * (other?.[column] ?? 0)) / 2;
  return {
    gain: input.map((value, column) => (half(column, -1) * scale) / value),
    bias: input.map((_, column) => half(column, 1)),
    outputBias: row(captured.logits?.data, 2, vocabSize),
  };
}

/** The values of each layer, [tokens, key heads, head width]. */
async function valuesOf(
  model: Subject,
  ids: readonly number[],
  signal: AbortSignal | undefined,
): Promise<Float32Array[]> {
  const { nLayer, nHead, nEmbd, numKeyValueHeads } = model.info.config;
  const bytes = ids.length * numKeyValueHeads * (nEmbd / nHead) * Float32Array.BYTES_PER_ELEMENT;
  const most = Math.max(1, Math.floor(mostBytes / bytes));
  const names = Array.from({ length: nLayer }, (_, layer) => `blocks.${layer}.attn.v`);
  const all: Float32Array[] = [];
  for (let first = 0; first < nLayer; first += most) {
    const { places } = await capture(model, ids, names.slice(first, first + most), signal);
    all.push(...places.map(({ data }) => data));
  }
  return all;
}

/** Implements Model.attribute. */
export async function attribute(model: Subject, text: Prompt, call: unknown): Promise<Attribution> {
  const fields = readOptions("attribute", call, ["token", "against", "signal", "onProgress"]);
  const signal = readSignal(fields.signal);
  const onProgress = readCallback<PromptProgress>("onProgress", fields.onProgress);
  checkContext(model);
  const { nLayer, nHead, nEmbd, nPositions, numKeyValueHeads } = model.info.config;
  const idIn = async (name: "token" | "against") =>
    fields[name] === undefined ? undefined : idOf(model, name, fields[name], signal);
  const [given, against] = [await idIn("token"), await idIn("against")];
  const { ids, guesses } = await model.inspect(text, { top: 1, signal });
  const tokens = ids.length;
  const token = given ?? guesses.at(-1)?.[0]?.id ?? 0;

  const residual = `blocks.${nLayer - 1}.resid_post`;
  const ofLayers = ["blocks.*.attn.pattern", "blocks.*.mlp_out"];
  const names = ["embed", "pos_embed", ...ofLayers, residual, "ln_final.normalized", "logits"];
  const { captured } = await capture(model, ids, names, signal, { positions: [tokens - 1] });
  const values = await valuesOf(model, ids, signal);
  const [wanted, other] = await outputRows(model, [token, against ?? token], signal);
  const direction = Array.from(wanted ?? [], (value, column) =>
    against === undefined ? value : value - (other?.[column] ?? 0),
  );
  const { gain, bias, outputBias } = await finalNorm(model, signal);
  // The norm's output is gain * (x - mean) / scale + bias: the captured output gives the scale.
  const scaled = centred(captured[residual]?.data ?? []).map((value, column) => value * (gain[column] ?? 0));
  const output = Array.from(
    captured["ln_final.normalized"]?.data ?? [],
    (value, column) => value - (bias[column] ?? 0),
  );
  const inverse = dot(scaled, output) / dot(scaled, scaled);
  const weights = centred(direction.map((value, column) => value * (gain[column] ?? 0))).map(
    (value) => value * inverse, // the weights are centred instead of each part
  );
  /** The value of the token, minus that of the other one. */
  const difference = (of: Float32Array | undefined) =>
    (of?.[token] ?? 0) - (against === undefined ? 0 : (of?.[against] ?? 0));
  const logit = difference(captured.logits?.data);

  const sources = new Float32Array(nLayer * nHead * tokens);
  let biases = dot(direction, bias) + difference(outputBias);
  const total = nHead * tokens;
  /** What a head reads from a token for the last one: `item` is head * tokens + token. */
  const readOf = (layer: number, item: number) => {
    const share = captured[`blocks.${layer}.attn.pattern`]?.data[item] ?? 0;
    const keyHead = numKeyValueHeads === 1 ? 0 : Math.floor(item / tokens);
    const place = (item % tokens) * numKeyValueHeads + keyHead;
    return row(values[layer], place, nEmbd / nHead).map((value) => value * share);
  };
  const most = Math.min(nPositions, mostPositions) - 1; // the first position has only the bias
  for (let first = 0; first < total; first += most) {
    const items = Array.from({ length: Math.min(most, total - first) }, (_, index) => first + index);
    const change: Change[] = [{ at: "blocks.*.attn.z", set: 0 }];
    for (let head = 0; head < nHead; head += 1) {
      const own = items.filter((item) => Math.floor(item / tokens) === head);
      const position = own.map((item) => item - first + 1);
      for (let layer = 0; own.length > 0 && layer < nLayer; layer += 1)
        change.push({
          ...{ at: `blocks.${layer}.attn.z`, head, position },
          set: own.flatMap((item) => [...readOf(layer, item)]),
        });
    }
    const probe = [0, ...items.map(() => 0)];
    const { captured: outputs } = await capture(model, probe, ["blocks.*.attn_out"], signal, { change });
    for (let layer = 0; layer < nLayer; layer += 1) {
      const place = outputs[`blocks.${layer}.attn_out`];
      const alone = dot(weights, row(place?.data, 0, nEmbd));
      if (first === 0) biases += alone;
      for (const item of items)
        sources[layer * total + item] = dot(weights, row(place?.data, item - first + 1, nEmbd)) - alone;
    }
    onProgress?.({ done: Math.min(first + most, total), total });
  }

  const sum = (all: Float32Array) => all.reduce((before, value) => before + value, 0);
  const heads = Float32Array.from({ length: nLayer * nHead }, (_, index) => sum(row(sources, index, tokens)));
  const of = (name: string) => dot(weights, captured[name]?.data ?? []);
  const mlps = Float32Array.from({ length: nLayer }, (_, layer) => of(`blocks.${layer}.mlp_out`));
  const [embedding, position] = [of("embed"), of("pos_embed")];
  const rounding = logit - embedding - position - sum(heads) - sum(mlps) - biases;
  return { token, logit, embedding, position, heads, sources, mlps, biases, rounding };
}
