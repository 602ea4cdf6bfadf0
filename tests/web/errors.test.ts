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

it.each([
  [
    new TypeError("fetch failed", { cause: Object.assign(new Error(), { code: "ECONNREFUSED" }) }),
    "TypeError: fetch failed (ECONNREFUSED)",
  ],
  [
    new TypeError("fetch failed", {
      cause: Object.assign(new Error("read ECONNRESET"), { code: "ECONNRESET" }),
    }),
    "TypeError: fetch failed (read ECONNRESET)",
  ],
  [new TypeError("fetch failed", { cause: new Error("bad port") }), "TypeError: fetch failed (bad port)"],
  [new TypeError("fetch failed", { cause: "x" }), "TypeError: fetch failed"],
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
