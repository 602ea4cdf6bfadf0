// Changes of the forward pass, in the engine's form. The engine checks their names and ranges.
import { describeValue, refuse } from "../shared/refuse.js";
import type { Captured, Change } from "../shared/types.js";
import { anyObject, atField, list, wholeNumber, type ReadValue } from "../shared/wire.js";

/** The most changes of a request; and the numbers of one: 1,024 rows of GPT-2's widest layer, 6,400. */
const mostChanges = 10_000;
const mostNumbers = 1024 * 6400;

/** A change as gpt2_generate reads it: JSON has no infinity. */
export type EngineChange = Readonly<Record<string, unknown>>;

const plain = (value: unknown) => (value === -Infinity ? "-Infinity" : value);

/** A number or a list of numbers, from any kind of array. */
function numbers(value: unknown): unknown {
  if (!Array.isArray(value) && !ArrayBuffer.isView(value)) return plain(value);
  const { length } = value as ArrayLike<unknown>;
  if (!(length <= mostNumbers)) refuse(` has ${String(length)} numbers, expected at most ${mostNumbers}`);
  return Array.from(value as ArrayLike<unknown>, plain);
}

const captured: ReadValue<Captured> = (value) => {
  const { data, shape } = anyObject(value);
  const sizes = atField("shape", list(wholeNumber, 3))(shape);
  const count = sizes.reduce((product, length) => product * length, 1);
  if (!(data instanceof Float32Array) || data.length !== count || sizes.length < 2)
    return refuse(` is ${describeValue(value)}, expected an entry of \`captured\``);
  return { data, shape: sizes };
};

/** Rows of `values`, of all heads or of one, and the part of them that `neuron` selects. */
function rowsOf({ data, shape }: Captured, { head, neuron }: Change, positions: readonly number[]): number[] {
  const [rows = 0, ...rest] = shape;
  const width = rest.reduce((product, length) => product * length, 1);
  const part = rest.at(-1) ?? 0;
  return positions.flatMap((position) => {
    if (position >= rows) refuse(` has ${rows} positions, but position is ${position}`);
    const start = position * width + (head === undefined || rest.length < 2 ? 0 : head * part);
    const row = data.subarray(start, start + (head === undefined || rest.length < 2 ? width : part));
    return neuron === undefined ? [...row] : [row[neuron] ?? 0];
  });
}

/** The mean over the positions. */
function meanOf(values: Captured, change: Change): number[] {
  const [rows = 0] = values.shape;
  const all = rowsOf(values, change, [...Array(rows).keys()]);
  const width = all.length / rows;
  return Array.from({ length: width }, (_, column) => {
    let sum = 0;
    for (let row = 0; row < rows; row += 1) sum += all[row * width + column] ?? 0;
    return sum / rows;
  });
}

const isAttention = (at: string) => /\b(?:hook_)?(?:attn_)?(?:scores|pattern)$/.test(at);

function readChange(value: unknown): EngineChange {
  const { from, set, add, ...others } = anyObject(value) as Change & EngineChange;
  const fields: Record<string, unknown> = { ...others };
  if (set !== undefined) fields.set = atField("set", numbers)(set);
  if (add !== undefined) fields.add = atField("add", numbers)(add);
  if (from === undefined) return fields;
  if (set !== undefined) refuse(" has `set` and `from`, expected one of them");
  if (isAttention(String(others.at))) refuse(".from cannot replace scores or patterns: use `set`");
  const position = others.position ?? [...Array(captured(from).shape[0]).keys()];
  const positions = Array.isArray(position) ? (position as number[]) : [position as number];
  fields.set = atField("from", (each) => rowsOf(captured(each), others, positions))(from);
  return { ...fields, position: positions };
}

/**
 * The changes `value` of a request. `capture` returns the values at places in a pass without changes, for those that set the
 * mean.
 */
export async function readChanges(
  value: unknown,
  capture: (names: string[]) => Promise<Record<string, Captured>>,
): Promise<EngineChange[]> {
  const given = atField(
    "change",
    list(anyObject, mostChanges),
  )(value).map((each, index) => atField(`change[${index}]`, readChange)(each));
  const means = given.filter(({ set }) => set === "mean");
  if (means.length === 0) return given;
  const unchanged = await capture([...new Set(means.map(({ at }) => String(at)))]);
  return given.flatMap((change) => {
    if (change.set !== "mean") return [change];
    if (isAttention(String(change.at))) refuse('change.set is "mean", which scores and patterns lack');
    const pattern = String(change.at).replaceAll("hook_", "");
    const every = new RegExp(`^${pattern.replaceAll(".", "\\.").replace("*", "\\d+")}$`);
    return Object.entries(unchanged)
      .filter(([name]) => every.test(name))
      .map(([at, values]) => ({ ...change, at, set: meanOf(values, change as unknown as Change) }));
  });
}

/** The layers, of `layers`, whose attention the changes compute in plain float32. */
export function plainLayers(changes: readonly EngineChange[], layers: number): number[] {
  const names = changes.map(({ at }) => String(at)).filter(isAttention);
  return [...Array(layers).keys()].filter((layer) =>
    names.some((name) => [String(layer), "*"].includes(name.split(".")[1] ?? "")),
  );
}
