// Changes and captures of the forward pass: checks them, and describes them in the numbers of gpt2_set_hooks.
import { describeValue, refuse } from "../shared/refuse.js";
import type { Captured, ModelConfig } from "../shared/types.js";
import {
  anyNumber,
  anyObject,
  atField,
  limits,
  list,
  optional,
  readIf,
  wholeNumberBetween,
  type ReadValue,
} from "../shared/wire.js";
import { isAttention, nameOf, placeNames, placesNamed, rowShape, type At } from "./places.js";

/** A list of numbers for gpt2_set_hooks, and what it captures. */
export interface Hooks {
  numbers: number[];
  /** Names and shapes of what is captured. */
  captures: { name: string; shape: number[] }[];
  /** Layers whose scores or pattern may change. */
  plainAttention: number[];
}

/** The most numbers of a change: a row of the widest layer, GPT-2 1.5B's MLP, for each of its 1,024 positions. */
const mostNumbers = 1024 * 6400;

/** A checked change at one place. */
interface ReadChange {
  at: At;
  head: number | undefined;
  column: number | undefined;
  positions: number[];
  kind: "set" | "scale" | "add";
  factor: number;
  /** "mean": computed from an unchanged pass. */
  values: ArrayLike<number> | "mean";
}

const kinds = ["set", "scale", "add"] as const;
const members = ["at", "head", "neuron", "position", "query", "key", ...kinds, "weight", "from"];

const indexBelow = (end: number): ReadValue<number | undefined> => optional(wholeNumberBetween(0, end - 1));
/** A number, or a list of different numbers; none if it is missing. */
const indices =
  (end: number): ReadValue<number[]> =>
  (value) => {
    if (value === undefined) return [];
    const all = list(wholeNumberBetween(0, end - 1), end)(Array.isArray(value) ? value : [value]);
    if (all.length === 0) refuse(" is empty, expected at least one");
    const twice = all.find((each, index) => all.indexOf(each) !== index);
    return twice === undefined ? all : refuse(` has ${twice} twice`);
  };

/** A number that stays finite as a 32-bit float. */
const factorOf: ReadValue<number> = readIf(
  "a finite number",
  (value) => typeof value === "number" && Number.isFinite(Math.fround(value)),
);

/** A number or a list of numbers, from any kind of array. */
const numbers: ReadValue<ArrayLike<number>> = (value) => {
  if (typeof value === "number") return [value];
  const isList = Array.isArray(value) || (ArrayBuffer.isView(value) && !(value instanceof DataView));
  if (!isList) return refuse(` is ${describeValue(value)}, expected a number or a list of numbers`);
  const { length } = value as ArrayLike<unknown>;
  if (length > mostNumbers) return refuse(` has ${length} numbers, expected at most ${mostNumbers}`);
  return Array.isArray(value) ? list(anyNumber, mostNumbers)(value) : (value as unknown as ArrayLike<number>);
};

/** Rows of `values` at `positions`: those of all heads or of one, and of all columns or of one. */
function rowsOf(
  { data, shape }: Captured,
  { head, column }: Pick<ReadChange, "head" | "column">,
  positions: readonly number[],
): number[] {
  const [rows = 0, ...rest] = shape;
  const part = rest.at(-1) ?? 0;
  const width = rest.reduce((product, length) => product * length, 1);
  return positions.flatMap((position) => {
    if (position >= rows) return refuse(` has ${rows} positions, but position is ${position}`);
    const start = position * width + (head ?? 0) * part;
    if (column !== undefined) return data[start + column] ?? 0;
    return [...data.subarray(start, start + (head === undefined ? width : part))];
  });
}

const captured =
  (at: At, config: ModelConfig): ReadValue<Captured> =>
  (value) => {
    const { data, shape } = anyObject(value);
    const { heads, width } = rowShape(at, config);
    const [rows = 0, ...rest] = Array.isArray(shape) ? (shape as number[]) : [];
    const wanted = heads === undefined ? [width] : [heads, width];
    const isSame = rest.length === wanted.length && rest.every((length, i) => length === wanted[i]);
    const size = (heads ?? 1) * width * rows;
    if (!isSame || !(data instanceof Float32Array) || data.length !== size)
      return refuse(` is ${describeValue(value)}, expected what was captured at such a place`);
    return { data, shape: [rows, ...rest] };
  };

/** One change, at each of its places. */
function readChange(value: unknown, config: ModelConfig): ReadChange[] {
  const given = anyObject(value);
  const unknown = Object.keys(given).find((name) => !members.includes(name));
  if (unknown !== undefined)
    refuse(`.${unknown} is no member of a change, expected one of ${members.join(", ")}`);
  const sources = [...kinds, "from"].filter((name) => given[name] !== undefined);
  if (sources.length !== 1)
    refuse(` has ${sources.join(" and ") || "none"} of set, scale, add and from, expected one`);
  return atField("at", (name) => placesNamed(name, config.nLayer))(given.at).map((at) => {
    const { heads, width } = rowShape(at, config);
    const isRow = !isAttention(at);
    const others = isRow ? ["query", "key"] : ["position", "neuron", "from"];
    if (heads === undefined) others.push("head");
    if (given.add === undefined) others.push("weight");
    const other = others.find((name) => given[name] !== undefined);
    if (other !== undefined)
      refuse(` has ${other}, which does not apply to ${other === "weight" ? sources[0] : nameOf(at)}`);
    const head = atField("head", indexBelow(heads ?? 1))(given.head);
    const column = isRow
      ? atField("neuron", indexBelow(width))(given.neuron)
      : atField("key", indexBelow(width))(given.key);
    if (isRow && heads !== undefined && head === undefined && column !== undefined)
      refuse(".neuron needs a head at this place");
    let positions = atField(
      isRow ? "position" : "query",
      indices(config.nPositions),
    )(given.position ?? given.query);
    const change = { at, head, column, factor: 1 };
    if (given.scale !== undefined)
      return {
        ...change,
        positions,
        kind: "scale",
        factor: atField("scale", factorOf)(given.scale),
        values: [],
      };
    if (given.set === "mean" && isRow) return { ...change, positions, kind: "set", values: "mean" };
    let values: ArrayLike<number>;
    if (given.from !== undefined) {
      const source = atField("from", captured(at, config))(given.from);
      if (positions.length === 0) positions = [...Array(source.shape[0]).keys()];
      values = atField("from", () => rowsOf(source, change, positions))(source);
    } else values = atField(given.add === undefined ? "set" : "add", numbers)(given.set ?? given.add);
    const { length } = values;
    const columns = column === undefined && isRow ? width * (head === undefined ? (heads ?? 1) : 1) : 1;
    const fits = length === 1 || (isRow && (length === columns || length === columns * positions.length));
    if (!fits || length === 0) {
      const more = columns > 1 ? ` or ${columns}${positions.length > 1 ? " for each position" : ""}` : "";
      refuse(` has ${length} values, expected 1${more}`);
    }
    const isHidden = at.place === "attn.scores" && given.set === -Infinity;
    if (
      !isHidden &&
      !Array.prototype.every.call(values, (each: number) => Number.isFinite(Math.fround(each)))
    )
      refuse(" has a value that is not a finite number");
    const factor = given.weight === undefined ? 1 : atField("weight", factorOf)(given.weight);
    return { ...change, factor, positions, kind: given.add === undefined ? "set" : "add", values };
  });
}

const numbersOfPlace = ({ place, layer }: At) => [placeNames.indexOf(place), layer];

function numbersOf(
  changes: readonly ReadChange[],
  captures: readonly At[],
  positions: readonly number[],
): number[] {
  const all = [changes.length];
  const add = (items: ArrayLike<number>) => {
    for (let i = 0; i < items.length; i += 1) all.push(items[i] ?? 0);
  };
  for (const { at, head, column, kind, factor, positions: where, values } of changes) {
    const given = values === "mean" ? [] : values;
    add([...numbersOfPlace(at), head ?? -1, column ?? -1, kinds.indexOf(kind), factor]);
    add([where.length]);
    add(where);
    add([given.length]);
    add(given);
  }
  add([captures.length, ...captures.flatMap(numbersOfPlace), positions.length, ...positions]);
  return all;
}

/** Captures the places `names`, at `positions` or everywhere, of a text of `tokens` tokens. */
function captureHooks(
  names: unknown,
  positions: unknown,
  changes: readonly ReadChange[],
  config: ModelConfig,
  tokens: number,
): Hooks {
  const captures = atField(
    "capture",
    list((each) => each, limits.members),
  )(names ?? []).flatMap((name, index) =>
    atField(`capture[${index}]`, (each) => placesNamed(each, config.nLayer))(name),
  );
  const rows = atField("positions", indices(tokens))(positions);
  if (positions !== undefined && names === undefined) refuse("positions needs capture");
  const count = rows.length || tokens;
  return {
    numbers: numbersOf(changes, captures, rows),
    captures: captures.map((at) => {
      const { heads, width } = rowShape(at, config);
      if (isAttention(at)) return { name: nameOf(at), shape: [heads ?? 1, count, tokens] };
      return { name: nameOf(at), shape: heads === undefined ? [count, width] : [count, heads, width] };
    }),
    plainAttention: [...new Set(changes.filter(({ at }) => isAttention(at)).map(({ at }) => at.layer))],
  };
}

/** What a request changes and captures. Fields are checked here. */
export interface HookRequest {
  change?: unknown;
  capture?: unknown;
  positions?: unknown;
}

/**
 * The hooks of a request for a text of `tokens` tokens, which only captures need. `captureUnchanged` captures in a pass without
 * changes, for those that set the mean. Returns undefined if there is nothing to change and to capture.
 */
export async function readHooks(
  { change, capture, positions }: HookRequest,
  config: ModelConfig,
  tokens: number,
  captureUnchanged: (hooksFor: (tokens: number) => Hooks) => Promise<Record<string, Captured>>,
): Promise<Hooks | undefined> {
  const changes = atField(
    "change",
    list(anyObject, limits.members),
  )(change ?? []).flatMap((each, index) =>
    atField(`change[${index}]`, (value) => readChange(value, config))(each),
  );
  if (changes.length === 0 && capture === undefined && positions === undefined) return undefined;
  const means = new Set(changes.filter(({ values }) => values === "mean").map(({ at }) => nameOf(at)));
  if (means.size > 0) {
    const unchanged = await captureUnchanged((count) =>
      captureHooks([...means], undefined, [], config, count),
    );
    for (const each of changes) {
      const values = unchanged[nameOf(each.at)];
      if (each.values !== "mean" || !values) continue;
      const rows = [...Array(values.shape[0]).keys()].map((position) => rowsOf(values, each, [position]));
      each.values = (rows[0] ?? []).map(
        (_, column) => rows.reduce((sum, row) => sum + (row[column] ?? 0), 0) / rows.length,
      );
    }
  }
  return captureHooks(capture, positions, changes, config, tokens);
}
