import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { describe, expect, it } from "vitest";
import {
  generateOptionNames,
  readChoice,
  readFlag,
  readGenerateOptions,
  readHeaders,
  readPrompt,
  readText,
} from "../../web/src/client/arguments.js";
import { readCallback, readOptions, readSignal, readTokenIds } from "../../web/src/shared/arguments.js";
import { readCount, refuse, describeValue } from "../../web/src/shared/refuse.js";

const error = (message: string) =>
  expect.objectContaining({ name: "InvalidArgumentError", code: "invalid-argument", message });
function caught(run: () => unknown): unknown {
  try {
    run();
  } catch (reason) {
    return reason;
  }
  return "nothing was thrown";
}

it("refuse throws an error that programs can recognize", () => {
  expect(caught(() => refuse("no"))).toEqual(error("no"));
});

it.each([
  [NaN, "NaN"],
  [-Infinity, "-Infinity"],
  [undefined, "undefined"],
  [null, "null"],
  [true, "true"],
  ["text", '"text"'],
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

describe("readOptions", () => {
  it("readOptions copies the given options", () => {
    const options = { a: 1, b: false, c: 0, d: "", e: undefined, f: null };
    const names = Object.keys(options);
    expect(readOptions("call", options, names)).toStrictEqual({ a: 1, b: false, c: 0, d: "" });
    expect(readOptions("call", new Proxy(options, {}), names)).toStrictEqual({ a: 1, b: false, c: 0, d: "" });
    expect(readOptions("call", undefined, ["a"])).toEqual({});
    expect(readOptions("call", null, ["a"])).toEqual({});
  });

  it.each([3, "text", () => 1, [], Symbol("s")])("readOptions refuses %s", (value) => {
    expect(caught(() => readOptions("score", value, []))).toEqual(
      error(`the options of score are ${describeValue(value)}, expected an object`),
    );
  });

  it("an unknown option is refused by name, with the list of known ones", () => {
    expect(caught(() => readOptions("score", { stride: 1, strid: 2 }, ["stride", "signal"]))).toEqual(
      error('unknown option "strid" of score: did you mean stride? Expected one of stride, signal'),
    );
    expect(caught(() => readOptions("score", { quality: null }, ["stride", "signal"]))).toEqual(
      error('unknown option "quality" of score, expected one of stride, signal'),
    );
  });
});

describe("single values", () => {
  it("readSignal accepts signals and refuses other values", () => {
    const { signal } = new AbortController();
    expect(readSignal(signal)).toBe(signal);
    expect(readSignal(undefined)).toBeUndefined();
    expect(readSignal(null)).toBeUndefined();
    for (const value of [3, {}, { aborted: false }, { addEventListener() {} }, "s"]) {
      expect(caught(() => readSignal(value))).toEqual(
        error(`signal is ${describeValue(value)}, expected an AbortSignal`),
      );
    }
  });

  it("readFunction accepts functions and refuses other values", () => {
    const run = () => {};
    expect(readCallback("onPrompt", run)).toBe(run);
    expect(readCallback("onPrompt", undefined)).toBeUndefined();
    expect(caught(() => readCallback("onPrompt", 3))).toEqual(error("onPrompt is 3, expected a function"));
    expect(caught(() => readCallback("onPrompt", null))).toEqual(
      error("onPrompt is null, expected a function"),
    );
  });

  it("readFlag accepts booleans and refuses other values", () => {
    expect([readFlag("f", undefined), readFlag("f", true), readFlag("f", false)]).toEqual([
      false,
      true,
      false,
    ]);
    expect(caught(() => readFlag("f", 1))).toEqual(error("f is 1, expected true or false"));
  });

  it("readCount accepts whole numbers in a range and refuses other values", () => {
    expect([readCount("c", 1, 1, 3), readCount("c", 3, 1, 3), readCount("c", undefined, 1)]).toEqual([
      1,
      3,
      undefined,
    ]);
    for (const value of [0, 4, 1.5, NaN, "2", null]) {
      expect(caught(() => readCount("c", value, 1, 3))).toEqual(
        error(`c is ${describeValue(value)}, expected a whole number from 1 to 3`),
      );
    }
    expect(caught(() => readCount("c", 0, 1))).toEqual(
      error("c is 0, expected a whole number from 1 or more"),
    );
  });

  it("readChoice accepts one of the listed values and refuses others", () => {
    expect(readChoice("kv", "q8", ["q8", "f32"])).toBe("q8");
    expect(readChoice("kv", undefined, ["q8"])).toBeUndefined();
    expect(caught(() => readChoice("kv", "q4", ["q8", "f32"]))).toEqual(
      error('kv is "q4", expected one of "q8", "f32"'),
    );
  });

  it("readHeaders accepts headers and refuses other values", () => {
    const pairs = [["x-a", "1"]];
    for (const value of [{ "X-A": "1" }, [["X-A", "1"]], new Headers({ "X-A": "1" })])
      expect(readHeaders("headers", value)).toEqual(pairs);
    expect(readHeaders("headers", undefined)).toEqual([]);
    expect(caught(() => readHeaders("headers", { "a b": "1" }))).toEqual(
      error(expect.stringMatching(/^headers is an object, expected headers \(TypeError: .*a b/) as never),
    );
  });

  it("readText accepts text and refuses other values", () => {
    expect(readText("text", "")).toBe("");
    expect(caught(() => readText("text", 3))).toEqual(error("text is 3, expected text"));
  });
});

describe("token ids", () => {
  it("token ids are accepted in any kind of array", () => {
    const arrays = [
      [1, 2],
      [1n, 2],
      new Proxy([1, 2], {}),
      Uint32Array.of(1, 2),
      Uint8Array.of(1, 2),
      Float64Array.of(1, 2),
      BigInt64Array.of(1n, 2n),
      BigUint64Array.of(1n, 2n),
    ];
    for (const ids of arrays) {
      expect(readTokenIds("ids", ids)).toEqual([1, 2]);
      expect(readPrompt("prompt", ids)).toEqual([1, 2]);
    }
    expect(readTokenIds("ids", [0, 0xffffffff])).toEqual([0, 0xffffffff]);
    expect(readTokenIds("ids", [])).toEqual([]);
    expect(readPrompt("prompt", "text")).toBe("text");
  });

  it.each([
    NaN,
    -1,
    1.5,
    2 ** 32,
    "1",
    null,
    undefined,
    -1n,
    2n ** 32n,
    10n ** 400n,
    Symbol("s"),
    () => 1,
    [1],
  ])("token ids are refused as %s", (id) => {
    expect(caught(() => readTokenIds("ids", [5, id]))).toEqual(
      error(`ids[1] is ${describeValue(id)}, expected a token id`),
    );
    expect(caught(() => readPrompt("prompt", [id]))).toEqual(
      error(`prompt[0] is ${describeValue(id)}, expected a token id`),
    );
  });

  it("an array of token ids with a hole is refused", () => {
    const ids = [1];
    ids[2] = 3;
    expect(caught(() => readTokenIds("ids", ids))).toEqual(error("ids[1] is undefined, expected a token id"));
  });

  it.each([
    undefined,
    null,
    3,
    {},
    { length: 1 },
    "1 2",
    new ArrayBuffer(8),
    new DataView(new ArrayBuffer(8)),
    Symbol("s"),
  ])("token ids must be an array, not %s", (value) => {
    expect(caught(() => readTokenIds("ids", value))).toEqual(
      error(`ids is ${describeValue(value)}, expected an array of token ids`),
    );
    if (typeof value === "string") return;
    expect(caught(() => readPrompt("prompt", value))).toEqual(
      error(`prompt is ${describeValue(value)}, expected text or an array of token ids`),
    );
  });
});

describe("readGenerateOptions", () => {
  it("readGenerateOptions passes on any JSON value under any name, because the engine checks names", () => {
    const options = {
      temperature: 0.5,
      lookup: false,
      stop: ["a", "b"],
      top_p: "x",
    };
    expect(readGenerateOptions(options)).toEqual(options);
    expect(readGenerateOptions({ seed: 42n, stop: new Proxy(["a"], {}) })).toEqual({ seed: 42, stop: ["a"] });
  });

  it("readGenerateOptions accepts every option of the engine, and no other", () => {
    const source = readFileSync(resolve(import.meta.dirname, "../../engine/generate/options.cc"), "utf8");
    const inEngine = [...source.matchAll(/(?:GPT2_NUMBER\(| \{)"(\w+)",/g)].map(([, name]) => name);
    expect([...generateOptionNames].sort()).toEqual([...inEngine, "stop"].sort());
  });

  it.each([
    [{ temperature: NaN }, "temperature is NaN, expected a finite number"],
    [{ topK: Infinity }, "topK is Infinity, expected a finite number"],
    [{ seed: 10n ** 400n }, "seed is Infinity, expected a finite number"],
    [{ lookup: () => true }, "lookup is a function, which no option accepts"],
    [{ stop: Symbol("s") }, "stop is a symbol, which no option accepts"],
    [{ stop: new Date() }, "stop is an object, which no option accepts"],
    [{ stop: ["a", () => 1] }, "stop[1] is a function, expected text"],
    [{ stop: ["a", NaN] }, "stop[1] is NaN, expected text"],
  ])("readGenerateOptions refuses %s", (options, message) => {
    expect(caught(() => readGenerateOptions(options))).toEqual(error(message));
  });
});
