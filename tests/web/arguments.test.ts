import { expect, it } from "vitest";
import {
  readChoice,
  readFlag,
  readGenerateOptions,
  readHeaders,
  readPrompt,
  readText,
} from "../../web/src/client/arguments.js";
import { readCallback, readOptions, readSignal, readTokenIds } from "../../web/src/shared/arguments.js";
import { readCount, describeValue } from "../../web/src/shared/refuse.js";

/** Expects that `run` refuses its arguments with this message. */
function expectRefusal(run: () => unknown, message: string): void {
  const error = { name: "InvalidArgumentError", code: "invalid-argument", message };
  expect(run).toThrow(expect.objectContaining(error) as Error);
}

it.each([
  [NaN, "NaN"],
  [undefined, "undefined"],
  ["x".repeat(40), `"${"x".repeat(40)}"`],
  ["x".repeat(41), `"${"x".repeat(40)}…"`],
  [3n, "3n"],
  [() => 1, "a function"],
  [Symbol("s"), "a symbol"],
  [[1], "an array"],
  [{}, "an object"],
])("describeValue describes a value as %s", (value, text) => {
  expect(describeValue(value)).toBe(text);
});

const { signal } = new AbortController();
const run = () => {};
const kinds = ["q8", "f32"];
const pairs = [["x-a", "1"]];
const fields = { a: 1, b: false, c: 0, d: "", e: undefined, f: null };
const given = { a: 1, b: false, c: 0, d: "" };

it.each<[string, () => unknown, unknown]>([
  ["options that are not undefined or null", () => readOptions("f", fields, Object.keys(fields)), given],
  ["a proxy of options", () => readOptions("f", new Proxy(fields, {}), Object.keys(fields)), given],
  ["no options", () => [undefined, null].map((none) => readOptions("f", none, ["a"])), [{}, {}]],
  ["signals", () => [signal, undefined, null].map(readSignal), [signal, undefined, undefined]],
  ["functions", () => [run, undefined].map((value) => readCallback("f", value)), [run, undefined]],
  ["flags", () => [undefined, true, false].map((value) => readFlag("f", value)), [false, true, false]],
  ["whole numbers", () => [1, 3, undefined].map((value) => readCount("c", value, 1, 3)), [1, 3, undefined]],
  ["choices", () => ["q8", undefined].map((value) => readChoice("kv", value, kinds)), ["q8", undefined]],
  ["pairs of headers", () => readHeaders("h", [["X-A", "1"]]), pairs],
  ["no headers", () => readHeaders("h", undefined), []],
  ["text", () => readText("text", ""), ""],
  ["a prompt of text", () => readPrompt("prompt", "text"), "text"],
])("%s are accepted", (_, read, expected) => {
  expect(read()).toStrictEqual(expected);
});

const names = ["stride", "signal"];
it.each<[unknown[], (value: unknown) => unknown, string, string]>([
  [[3, "text", run, []], (value) => readOptions("f", value, []), "the options of f are", "an object"],
  [[3, {}, { aborted: false }, { addEventListener() {} }, "s"], readSignal, "signal is", "an AbortSignal"],
  [[3, null], (value) => readCallback("onPrompt", value), "onPrompt is", "a function"],
  [[1], (value) => readFlag("f", value), "f is", "true or false"],
  [[0, 4, 1.5, NaN, "2", null], (value) => readCount("c", value, 1, 3), "c is", "a whole number from 1 to 3"],
  [[0], (value) => readCount("c", value, 1), "c is", "a whole number from 1 or more"],
  [["q4"], (value) => readChoice("kv", value, kinds), "kv is", 'one of "q8", "f32"'],
  [[3], (value) => readText("text", value), "text is", "text"],
])("%o are refused", (values, read, what, expected) => {
  for (const value of values)
    expectRefusal(() => read(value), `${what} ${describeValue(value)}, expected ${expected}`);
});

it("invalid headers are refused with the reason of the browser", () => {
  const why = /^headers is an object, expected headers \(TypeError: .*a b/;
  expectRefusal(() => readHeaders("headers", { "a b": "1" }), expect.stringMatching(why) as never);
});

it.each([
  [{ stride: 1, strid: 2 }, '"strid" of score: did you mean stride? Expected one of stride, signal'],
  [{ quality: null }, '"quality" of score, expected one of stride, signal'],
])("an unknown option of %o is refused by name, with the list of known ones", (options, message) => {
  expectRefusal(() => readOptions("score", options, names), `unknown option ${message}`);
});

it.each<[string, ArrayLike<unknown>]>([
  ["array", [0, 0xffffffff]],
  ["array without elements", []],
  ["array of big integers", [1n, 2]],
  ["proxy", new Proxy([1, 2], {})],
  ["Uint32Array", Uint32Array.of(1, 2)],
  ["BigInt64Array", BigInt64Array.of(1n, 2n)],
])("token ids are accepted in any kind of array: %s", (_, ids) => {
  const expected = Array.from(ids, Number);
  expect(readTokenIds("ids", ids)).toEqual(expected);
  expect(readPrompt("prompt", ids)).toEqual(expected);
});

const noIds = [NaN, -1, 1.5, 2 ** 32, "1", null, -1n, 2n ** 32n, Symbol("s"), run];
it.each(noIds)("token ids are refused as %s", (id) => {
  const why = `${describeValue(id)}, expected a token id`;
  expectRefusal(() => readTokenIds("ids", [5, id]), `ids[1] is ${why}`);
  expectRefusal(() => readPrompt("prompt", [id]), `prompt[0] is ${why}`);
});

it("an array of token ids with a hole is refused", () => {
  const ids = [1];
  ids[2] = 3;
  expectRefusal(() => readTokenIds("ids", ids), "ids[1] is undefined, expected a token id");
});

const bytes = new ArrayBuffer(8);
const noArrays = [undefined, 3, { length: 1 }, bytes, new DataView(bytes), "1 2"];
it.each(noArrays)("token ids must be an array, not %s", (value) => {
  const what = describeValue(value);
  expectRefusal(() => readTokenIds("ids", value), `ids is ${what}, expected an array of token ids`);
  const why = `prompt is ${what}, expected text or an array of token ids`;
  if (typeof value !== "string") expectRefusal(() => readPrompt("prompt", value), why);
});

it("readGenerateOptions passes on any JSON value under any name, because the engine checks names", () => {
  const options = { temperature: 0.5, lookup: false, stop: ["a", "b"], top_p: "x" };
  expect(readGenerateOptions(options)).toEqual(options);
  expect(readGenerateOptions({ seed: 42n, stop: new Proxy(["a"], {}) })).toEqual({ seed: 42, stop: ["a"] });
});

it.each([
  [{ temperature: NaN }, "temperature is NaN, expected a finite number"],
  [{ seed: 10n ** 400n }, "seed is Infinity, expected a finite number"],
  [{ lookup: () => true }, "lookup is a function, which no option accepts"],
  [{ stop: new Date() }, "stop is an object, which no option accepts"],
  [{ stop: ["a", () => 1] }, "stop[1] is a function, expected text"],
])("readGenerateOptions refuses %s", (options, message) => {
  expectRefusal(() => readGenerateOptions(options), message);
});
