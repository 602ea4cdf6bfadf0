// The code and the sentence of every error of browsers and of Emscripten.
import { expect, it, vi } from "vitest";
import { Gpt2Error, LoadError } from "../../web/src/shared/errors.js";
import {
  afterFailure,
  failureOf,
  noWorkerFailure,
  oldBrowser,
  silentWorker,
  workerFailure,
} from "../../web/src/shared/failures.js";

/** An error as a browser makes it: what matters is its name and its words. */
const thrown = (name: string, message: string) => Object.assign(new Error(message), { name });
const advice = ". Build with -sASSERTIONS for more info.";
const failed = "the engine failed";
const cannotRun = "this browser cannot run the engine (";
const policy = "the page's content security policy forbids WebAssembly: add 'wasm";
const noRoom = "there is not enough memory";
const noCsp = "WebAssembly.compile(): violates the directive because 'unsafe-eval' is not an allowed source";

it("failureOf returns this module's own errors unchanged", () => {
  const error = new LoadError("corrupt", "tensor h.0 ...");
  expect(failureOf(error)).toBe(error);
});

it.each([
  ["RuntimeError", "unreachable", "worker-died", `${failed} (unreachable)`],
  // Emscripten's abort.
  ["RuntimeError", `Aborted()${advice}`, "worker-died", `${failed} (no reason given)`],
  ["RuntimeError", `Aborted(a reason)${advice}`, "worker-died", `${failed} (a reason)`],
  ["RuntimeError", "Aborted(native code)", "worker-died", `${failed} (native code)`],
  ["RuntimeError", "Aborted(cut off", "worker-died", `${failed} (cut off)`],
  ["RuntimeError", "Was Aborted(a reason)", "worker-died", `${failed} (Was Aborted(a reason))`],
  ["RuntimeError", `Aborted(OOM)${advice}`, "out-of-memory", `${noRoom}: OOM`],
  ["RuntimeError", `Aborted(Cannot enlarge memory arrays to size 5)${advice}`, "out-of-memory", noRoom],
  ["CompileError", "bad opcode", "unsupported", `${cannotRun}bad opcode): ${oldBrowser}`],
  ["CompileError", noCsp, "unsupported", policy],
  ["LinkError", 'Import #0 module="env"', "unsupported", `${cannotRun}Import`],
  ["RangeError", "WebAssembly.Memory(): could not allocate memory", "out-of-memory", noRoom],
  ["RangeError", "Maximum call stack size exceeded", "worker-died", `${failed} (Maximum call stack`],
  ["InternalError", "too much recursion", "worker-died", `${failed} (too much recursion)`],
  ["InternalError", "allocation size overflow", "out-of-memory", `${noRoom}: allocation`],
  ["DataCloneError", "f is a function", "invalid-argument", "an argument cannot be sent to a worker: f"],
  ["DataCloneError", "Data cannot be cloned, out of memory.", "out-of-memory", noRoom],
  ["Error", "out of memory", "out-of-memory", `${noRoom}: out of memory`],
  ["TypeError", "x is not a function", "worker-died", "the engine's worker failed (TypeError: x is not"],
])("failureOf turns %s: %s into %s", (name, message, code, sentence) => {
  const failure = failureOf(thrown(name, message));
  expect(failure.code).toBe(code);
  expect(failure.message.startsWith(sentence), failure.message).toBe(true);
  expect(failure.message).not.toContain("-sASSERTIONS");
  if (code === "unsupported") expect(failure.name).toBe("LoadError");
});

it.each([
  ["out of memory", "out-of-memory", `${noRoom}: out of memory`], // Firefox throws just that
  ["unwind", "worker-died", "the engine's worker failed (unwind)"],
  [null, "worker-died", "the engine's worker failed (null)"],
  [{ status: 1 }, "worker-died", "the engine's worker failed ([object Object])"],
  [{ message: "m" }, "worker-died", "the engine's worker failed (Error: m)"],
])("every other thrown value gets a code: %s", (value, code, message) => {
  const failure = failureOf(value);
  expect(failure).toBeInstanceOf(Gpt2Error);
  expect(failure).toMatchObject({ code, message });
});

it("afterFailure says what to do", () => {
  const after = afterFailure(new Gpt2Error("out-of-memory", noRoom));
  const message = `${noRoom}; the model must be loaded again`;
  expect(after).toMatchObject({ code: "worker-died", message });
});

const notLoaded = "the worker's script s.js cannot be loaded: ";
const missing = `${notLoaded}the file is missing, its host does not share it`;
const silent = "the worker's script s.js has not started in time: its host is slow, other";
const noNetwork = `${notLoaded}there is no network. Load the model again once there is`;
it.each([
  [undefined, true, true, "worker-died", "the engine's worker failed; the browser gives no reason"],
  ["out of memory", true, true, "out-of-memory", `${noRoom}: out of memory`],
  [undefined, false, true, "network", missing],
  ["", false, true, "network", missing],
  ["", false, false, "network", noNetwork],
  [silentWorker, false, true, "network", silent],
  ["SyntaxError", false, true, "unsupported", "this browser cannot run s.js (SyntaxError): Chrome"],
])("workerFailure turns %s (ran: %s, online: %s) into %s", (message, hasRun, onLine, code, sentence) => {
  vi.stubGlobal("navigator", { onLine });
  const failure = workerFailure(message, hasRun, "s.js");
  expect(failure.code).toBe(code);
  expect(failure.message.startsWith(sentence), failure.message).toBe(true);
});

it.each([
  ["SecurityError", "file://", /^the engine needs a worker, and cannot start one: file:\/\/$/],
  ["TypeError", "This document requires 'TrustedScriptURL' assignment.", /trusted-types gpt2-wasm/],
  ["ReferenceError", "Can't find variable: Worker", /in a page or a dedicated worker\)$/],
])("the error for a worker after %s: %s says what to allow", (name, message, expected) => {
  vi.stubGlobal("Worker", name === "ReferenceError" ? undefined : class {});
  expect(noWorkerFailure(thrown(name, message))).toMatchObject({
    code: "unsupported",
    message: expect.stringMatching(expected),
  });
});
