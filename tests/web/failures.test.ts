import { describe, expect, it, vi } from "vitest";
import { Gpt2Error, LoadError } from "../../web/src/shared/errors.js";
import {
  afterFailure,
  failureOf,
  noWorkerFailure,
  silentWorker,
  workerFailure,
} from "../../web/src/shared/failures.js";

/** An error as a browser makes it: what matters is its name and its words. */
const thrown = (name: string, message: string) => Object.assign(new Error(message), { name });

describe("failureOf", () => {
  it("failureOf returns this module's own errors unchanged", () => {
    const error = new LoadError("corrupt", "tensor h.0 ...");
    expect(failureOf(error)).toBe(error);
  });

  it.each([
    // Traps, in the words of V8, SpiderMonkey and JavaScriptCore.
    ["RuntimeError", "unreachable", "worker-died"],
    ["RuntimeError", "memory access out of bounds", "worker-died"],
    ["RuntimeError", "index out of bounds", "worker-died"],
    ["RuntimeError", "Out of bounds memory access (evaluating 'a(b)')", "worker-died"],
    ["RuntimeError", "divide by zero", "worker-died"],
    // Emscripten's abort.
    ["RuntimeError", "Aborted(). Build with -sASSERTIONS for more info.", "worker-died"],
    ["RuntimeError", "Aborted(native code called abort())", "worker-died"],
    ["RuntimeError", "Aborted(OOM). Build with -sASSERTIONS for more info.", "out-of-memory"],
    [
      "RuntimeError",
      "Aborted(Cannot enlarge memory arrays to size 5). Build with -sASSERTIONS for more info.",
      "out-of-memory",
    ],
    ["CompileError", "WebAssembly.compile(): invalid opcode 0xfd @+12", "unsupported"],
    ["LinkError", 'WebAssembly.Instance(): Import #0 module="env"', "unsupported"],
    ["RangeError", "WebAssembly.Memory(): could not allocate memory", "out-of-memory"],
    ["RangeError", "Array buffer allocation failed", "out-of-memory"],
    ["RangeError", "Invalid string length", "out-of-memory"],
    ["RangeError", "Maximum call stack size exceeded", "worker-died"],
    ["InternalError", "too much recursion", "worker-died"],
    ["InternalError", "allocation size overflow", "out-of-memory"],
    ["DataCloneError", "() => {} could not be cloned.", "invalid-argument"],
    ["DataCloneError", "Data cannot be cloned, out of memory.", "out-of-memory"],
    ["Error", "out of memory", "out-of-memory"],
    ["TypeError", "x is not a function", "worker-died"],
  ])("failureOf turns %s: %s into %s", (name, message, code) => {
    expect(failureOf(thrown(name, message)).code).toBe(code);
  });

  it.each([
    ["out of memory", "out-of-memory"], // Firefox throws just that
    ["unwind", "worker-died"],
    [undefined, "worker-died"],
    [null, "worker-died"],
    [{ status: 1 }, "worker-died"],
    [{ message: "no name" }, "worker-died"],
  ])("every other thrown value gets a code: %s", (value, code) => {
    const failure = failureOf(value);
    expect(failure).toBeInstanceOf(Gpt2Error);
    expect(failure.code).toBe(code);
  });

  it.each([
    ["Aborted(). Build with -sASSERTIONS for more info.", "the engine failed (no reason given)"],
    ["Aborted(native code called abort())", "the engine failed (native code called abort())"],
    ["Aborted(a reason). Build with -sASSERTIONS for more info.", "the engine failed (a reason)"],
    ["Aborted(cut off", "the engine failed (cut off)"],
    ["Was Aborted(a reason)", "the engine failed (Was Aborted(a reason))"],
    ["unreachable", "the engine failed (unreachable)"],
  ])("failureOf describes %s in plain words", (message, sentence) => {
    expect(failureOf(thrown("RuntimeError", message)).message).toBe(sentence);
  });

  it("failureOf describes what went wrong", () => {
    expect(failureOf(thrown("RuntimeError", "Aborted(OOM)")).message).toBe("there is not enough memory: OOM");
    expect(failureOf(thrown("RangeError", "Maximum call stack size exceeded")).message).toBe(
      "the engine failed (Maximum call stack size exceeded)",
    );
    expect(failureOf(thrown("TypeError", "x")).message).toBe("the engine's worker failed (TypeError: x)");
    expect(failureOf("unwind").message).toBe("the engine's worker failed (unwind)");
    expect(failureOf({ message: "m" }).message).toBe("the engine's worker failed (Error: m)");
    expect(failureOf(thrown("DataCloneError", "f could not be cloned")).message).toContain(
      "f could not be cloned",
    );
    const old = failureOf(thrown("CompileError", "bad opcode"));
    expect(old.message).toContain("bad opcode");
    expect(old.message).toContain("Safari 16.4");
    expect(old.name).toBe("LoadError");
  });
});

it("afterFailure says what to do", () => {
  const after = afterFailure(new Gpt2Error("out-of-memory", "there is not enough memory"));
  expect(after.code).toBe("worker-died");
  expect(after.message).toBe("there is not enough memory; the model must be loaded again");
});

describe("workerFailure", () => {
  it.each([
    [undefined, true, "worker-died", "the engine's worker failed; the browser gives no reason"],
    ["Uncaught x", true, "worker-died", "the engine's worker failed (Uncaught x)"],
    ["out of memory", true, "out-of-memory", "there is not enough memory: out of memory"],
    [
      undefined,
      false,
      "network",
      "the worker's script s.js cannot be loaded: the file is missing, its host does not share it",
    ],
    [
      "",
      false,
      "network",
      "the worker's script s.js cannot be loaded: the file is missing, its host does not share it",
    ],
    [
      silentWorker,
      false,
      "network",
      "the worker's script s.js has not started in time: its host is slow, other",
    ],
    ["SyntaxError", false, "unsupported", "this browser cannot run s.js (SyntaxError): Chrome"],
  ])("workerFailure turns %s (has run: %s) into %s", (message, hasRun, code, sentence) => {
    const failure = workerFailure(message, hasRun, "s.js");
    expect(failure.code).toBe(code);
    expect(failure.message.startsWith(sentence)).toBe(true);
  });

  it("workerFailure reports a missing network if the browser does", () => {
    vi.stubGlobal("navigator", { onLine: false });
    const { code, message } = workerFailure("", false, "s.js");
    expect([code, message]).toEqual([
      "network",
      "the worker's script s.js cannot be loaded: there is no network. Load the model again once there is",
    ]);
    vi.unstubAllGlobals();
  });

  it("workerFailure names what a policy has to allow", () => {
    const refused = "This document requires 'TrustedScriptURL' assignment.";
    expect(noWorkerFailure(thrown("TypeError", refused)).message).toContain("trusted-types gpt2-wasm");
    const forbidden =
      "WebAssembly.compile(): violates the directive because 'unsafe-eval' is not an allowed source";
    expect(failureOf(thrown("CompileError", forbidden))).toMatchObject({
      code: "unsupported",
      message: expect.stringContaining("add 'wasm-unsafe-eval' to the script-src"),
    });
  });

  it("workerFailure returns an error for a worker that cannot be created", () => {
    expect(noWorkerFailure(thrown("SecurityError", "file://"))).toMatchObject({
      code: "unsupported",
      message: "the engine needs a worker, and cannot start one: file://",
    });
  });
});
