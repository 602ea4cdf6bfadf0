// Converts errors of browsers and Emscripten to errors with a stable code and a plain sentence. Answers of hosts are
// classified where they are read (model/sources/model-source.ts).
import { release } from "./release.js";
import { Gpt2Error, InvalidArgumentError, LoadError, WorkerError } from "./errors.js";
import { notImported } from "./script-address.js";

// The oldest browsers that run the module. The newest feature that it needs is AbortSignal.throwIfAborted in Chrome, module
// workers in Firefox, and WebAssembly SIMD in Safari.
export const oldBrowser = "Chrome or Edge 100, Firefox 114, Safari 16.4 or newer is needed";

/** The directive that allows WebAssembly on a page that restricts its scripts. */
export const wasmForbidden = "add 'wasm-unsafe-eval' to the script-src of its Content-Security-Policy";

const memorySigns =
  /out of memory|\bOOM\b|cannot enlarge memory|could not allocate|allocation (failed|size overflow)|invalid (array buffer|string|array|typed array) length/i;

/** Emscripten's abort: its reason, without the advice to developers. */
const abortText = /^Aborted\((.*?)\)?(?:\. Build with .*)?$/s;

function nameAndText(error: unknown): { name: string; text: string } {
  if (typeof error === "object" && error !== null && "message" in error) {
    const name = "name" in error ? String(error.name) : "Error";
    return { name, text: String(error.message) };
  }
  return { name: "", text: String(error) };
}

const outOfMemory = (text: string) => new Gpt2Error("out-of-memory", `there is not enough memory: ${text}`);

/** Converts anything thrown to an error of this module. A Gpt2Error is returned unchanged. */
export function failureOf(error: unknown): Gpt2Error {
  if (error instanceof Gpt2Error) return error;
  const { name, text } = nameAndText(error);
  switch (name) {
    case "CompileError":
    case "LinkError":
      if (/unsafe-eval|Content Security Policy|\bCSP\b/i.test(text)) {
        return new LoadError(
          "unsupported",
          `the page's content security policy forbids WebAssembly: ${wasmForbidden}`,
        );
      }
      return new LoadError("unsupported", `this browser cannot run the engine (${text}): ${oldBrowser}`);
    case "RuntimeError": {
      const reason = abortText.exec(text)?.[1] ?? text;
      if (memorySigns.test(reason)) return outOfMemory(reason);
      return new WorkerError("worker-died", `the engine failed (${reason || "no reason given"})`);
    }
    case "RangeError":
    case "InternalError": // in Firefox
      if (/call stack|recursion/i.test(text))
        return new WorkerError("worker-died", `the engine failed (${text})`);
      return outOfMemory(text);
    case "DataCloneError":
      if (memorySigns.test(text)) return outOfMemory(text);
      return new InvalidArgumentError("invalid-argument", `an argument cannot be sent to a worker: ${text}`);
    default:
      if (memorySigns.test(text)) return outOfMemory(text);
      return new WorkerError("worker-died", `the engine's worker failed (${name ? `${name}: ` : ""}${text})`);
  }
}

/** The error for every call after an engine has failed. */
export function afterFailure(first: Gpt2Error): WorkerError {
  return new WorkerError("worker-died", `${first.message}; the model must be loaded again`);
}

/** The message of the error event for a worker that did not answer in time. */
export const silentWorker = "silent";

/** The meaning of an `error` event of the engine's worker. Before the worker's first message, it never ran. */
export function workerFailure(message: string | undefined, hasRun: boolean, script: string): Gpt2Error {
  if (hasRun) {
    return message === undefined
      ? new WorkerError("worker-died", "the engine's worker failed; the browser gives no reason")
      : failureOf({ name: "", message });
  }
  if (message === silentWorker) {
    return new LoadError(
      "network",
      `the worker's script ${script} has not started in time: its host is slow, other requests of the page use ` +
        `all connections to it (browsers open six), or the file is not this script. Load the model again`,
    );
  }
  if (isOffline() && (!message || message.includes(notImported))) {
    return new LoadError(
      "network",
      `the worker's script ${script} cannot be loaded: there is no network. Load the model again once there is`,
    );
  }
  // Chromium gives no reason for a module that it cannot parse or fetch.
  if (!message || message.includes(notImported)) {
    return new LoadError(
      "network",
      `the worker's script ${script} cannot be loaded: the file is missing, its host does not share it with this page ` +
        `(Access-Control-Allow-Origin), or this browser cannot run it (${oldBrowser})`,
    );
  }
  return new LoadError("unsupported", `this browser cannot run ${script} (${message}): ${oldBrowser}`);
}

/** The error for a worker that the page's policy forbids. `blocked` is the browser's name for its address. */
export function forbiddenWorker(script: string, blocked: string): LoadError {
  const source = blocked.startsWith("blob") ? "blob:" : "'self'"; // a worker of another origin starts from a blob
  return new LoadError(
    "unsupported",
    `the page's Content-Security-Policy forbids the worker ${script}: add ${source} to its worker-src`,
  );
}

/** The error for a worker that cannot be created at all. */
export function noWorkerFailure(error: unknown): Gpt2Error {
  if (error instanceof Gpt2Error) return error;
  const { text } = nameAndText(error);
  const advice = /TrustedScriptURL/.test(text)
    ? " (add the directive trusted-types gpt2-wasm to the page's Content-Security-Policy)"
    : /insecure/.test(text) // WebKit mentions no policy
      ? " (worker-src in the page's Content-Security-Policy has to list 'self')"
      : (globalThis as { Worker?: unknown }).Worker // shared and service workers have none
        ? ""
        : " (load it in a page or a dedicated worker)";
  return new LoadError("unsupported", `the engine needs a worker, and cannot start one: ${text}${advice}`);
}

/** The error for a module and worker of two releases, as after a half-finished update or from a cache. */
export function mixedReleases(script: string, found: string | undefined): LoadError {
  return new LoadError(
    "unsupported",
    `gpt2.js is release ${release}, but ${script} is ${found ?? "another"}: reload the page, if needed without its cache`,
  );
}

/** Whether the browser reports that there is no network at all. */
export function isOffline(): boolean {
  const { navigator } = globalThis as { navigator?: { onLine?: boolean } };
  return navigator?.onLine === false;
}
