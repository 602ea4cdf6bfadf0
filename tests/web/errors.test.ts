// Errors of a chunk, which has its own copies of the classes, are recognized by their type.
import { expect, it, vi } from "vitest";
import * as own from "../../web/src/shared/errors.js";
import { failureOf } from "../../web/src/shared/failures.js";

vi.resetModules();
const chunk = await import("../../web/src/shared/errors.js");

const kinds = ["InvalidArgumentError", "CapacityError", "LoadError", "WorkerError"] as const;

it.each([
  ["invalid-argument", "InvalidArgumentError"],
  ["capacity", "CapacityError"],
  ["corrupt", "LoadError"],
  ["worker-died", "WorkerError"],
  ["out-of-memory", "Gpt2Error"],
] as const)("an error with the code %s is a %s, and nothing else", (code, kind) => {
  const error = new chunk[kind](code, "why");
  expect(Object.getPrototypeOf(error)).not.toBe(own[kind].prototype);
  expect(error).toBeInstanceOf(own.Gpt2Error);
  const expected = kinds.filter((narrow) => narrow === kind);
  expect(kinds.filter((narrow) => error instanceof own[narrow])).toEqual(expected);
  expect(failureOf(error)).toBe(error);
});

const by = (cause: unknown) => new TypeError("fetch failed", { cause });
it.each([
  [by(Object.assign(new Error(), { code: "REFUSED" })), "TypeError: fetch failed (REFUSED)"],
  [by(Object.assign(new Error("reset"), { code: "RESET" })), "TypeError: fetch failed (reset)"],
  [by(new Error("bad port")), "TypeError: fetch failed (bad port)"],
  [by("x"), "TypeError: fetch failed"],
  [undefined, "undefined"],
])("the reason of %s is %j", (error, reason) => {
  expect(own.reasonOf(error)).toBe(reason);
});

it("an error of a separately loaded part does not become a narrower class of the embedder", () => {
  class Mine extends own.LoadError {}
  expect(new Mine("network", "mine")).toBeInstanceOf(Mine);
  expect(new Mine("network", "mine")).toBeInstanceOf(own.LoadError);
  expect(new own.LoadError("network", "ours") instanceof Mine).toBe(false);
  expect(new chunk.LoadError("network", "ours") instanceof Mine).toBe(false);
});

it.each([
  [null],
  [new Error("why")],
  [Object.assign(new Error("why"), { name: "LoadError", code: "network" })],
])("an error of other code is not taken for one of ours: %s", (error) => {
  expect(error instanceof own.Gpt2Error).toBe(false);
  expect(error instanceof own.LoadError).toBe(false);
});
