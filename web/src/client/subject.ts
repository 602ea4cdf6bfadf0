// What attribute.ts and causes.ts need of a model.
import { describeValue, readCount, refuse } from "../shared/refuse.js";
import type { Captured, Change, Inspection, ModelInfo, Prompt } from "../shared/types.js";

/** The part of Model. Importing Model would be circular. */
export interface Subject {
  readonly info: ModelInfo;
  tokenize(text: string, options: { signal: AbortSignal | undefined }): Promise<number[]>;
  detokenize(ids: readonly number[], options: { signal: AbortSignal | undefined }): Promise<string>;
  inspect(
    text: Prompt,
    options: {
      capture?: readonly string[];
      positions?: readonly number[];
      change?: readonly Change[];
      top?: number;
      signal: AbortSignal | undefined;
    },
  ): Promise<Inspection>;
}

/** The captured places of a text. */
export async function capture(
  model: Subject,
  text: Prompt,
  names: readonly string[],
  signal: AbortSignal | undefined,
  more: { change?: readonly Change[]; positions?: readonly number[] } = {},
): Promise<{ ids: number[]; captured: Record<string, Captured>; places: Captured[] }> {
  const { ids, captured } = await model.inspect(text, { capture: names, top: 0, signal, ...more });
  return { ids, captured, places: Object.values(captured) };
}

/** Row `index` of values with rows of `width`; empty without values. */
export const row = (values: Float32Array | undefined, index: number, width: number): Float32Array =>
  values?.subarray(index * width, (index + 1) * width) ?? new Float32Array();

/** The id of one token, from its text or its id. */
export async function idOf(
  model: Subject,
  name: string,
  value: unknown,
  signal: AbortSignal | undefined,
): Promise<number> {
  const { vocabSize } = model.info.config;
  if (typeof value !== "string")
    return readCount(name, value, 0, vocabSize - 1) ?? refuse(`${name} is missing`);
  const ids = await model.tokenize(value, { signal });
  const [id] = ids;
  return ids.length === 1 && id !== undefined
    ? id
    : refuse(`${name} is ${describeValue(value)}, which has ${ids.length} tokens, expected 1`);
}
