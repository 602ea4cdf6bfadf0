// Loading a model.
import { LoadError } from "../shared/errors.js";
import { unlessAborted } from "../shared/unless-aborted.js";
import { threadLimit, type FetchPort, type LoadRequest } from "../shared/protocol.js";
import type { LoadProgress, Prompt, Variant } from "../shared/types.js";
import { variants } from "../shared/types.js";
import {
  readCallback,
  readChoice,
  readFlag,
  readFunction,
  readHeaders,
  readOptions,
  readPrompt,
  readSignal,
} from "./arguments.js";
import { readCount } from "../shared/refuse.js";
import type { Connection } from "./connection.js";
import { readFolder } from "./folder-address.js";
import { Model } from "./model.js";
import { SharedLoad } from "./shared-load.js";
import { startWorker } from "./start-worker.js";
import { readThreadChoices } from "./thread-choices.js";

/**
 * Where a model is:
 * - the URL of a folder, relative to the page, or of a GGUF file (…/NAME.gguf);
 * - `hf:owner/name`, `hf:owner/name@revision`, `hf:owner/name/FILE.gguf`: a model on the Hugging Face hub;
 * - `owner/name`, `owner/name@revision`, with no slash at the end: the folder of this name beside the page, and where
 *   the page's host has none, the hub's model;
 * - files of this device: what an `<input type="file">` has, also of a whole folder, or a handle of a folder or file.
 */
export type ModelSource =
  string | URL | File | Iterable<File> | FileList | FileSystemDirectoryHandle | FileSystemFileHandle;

/** A LoRA adapter: where it is, as a model; `weight` multiplies what it adds, 1 if it is left out. */
export type AdapterSource = ModelSource | { source: ModelSource; weight?: number | null | undefined };

/** Options of `loadModel`. */
export interface LoadOptions {
  /** The base address of a hub that answers as `https://huggingface.co`; the model is then an id, with or without `hf:`. */
  hub?: string | URL | null | undefined;
  /** Threads to compute with, 1 to 64; by default as many as were fastest when it was measured, once per device. */
  threads?: number | null | undefined;
  /** Aborts the load. */
  signal?: AbortSignal | null | undefined;
  /** Called with the progress, about 20 times a second. */
  onProgress?: ((progress: LoadProgress) => void) | null | undefined;
  /** What a model of floats becomes while it is read; "q8". One that is converted already to something else is an error. */
  weights?: "q8" | "q4" | "f32" | null | undefined;
  /**
   * A LoRA adapter in PEFT's form (adapter_config.json, adapter_model.safetensors), or several, to be merged into a model of
   * floats before these are quantized.
   */
  adapter?: AdapterSource | readonly AdapterSource[] | null | undefined;
  /** Format of the KV cache; by default as the weights. */
  kv?: "q8" | "f32" | null | undefined;
  /**
   * Milliseconds without a byte after which a host's connection counts as broken; 20,000. What breaks is asked for again
   * a few times, and goes on where it was.
   */
  stallMs?: number | null | undefined;
  /**
   * What is going to be generated from: it runs through each layer of the model as its weights arrive, so that when the
   * last have come its first token is one step away. The text may still change: what it then begins with alike is not
   * computed again. Costs nothing but work that the device would else have done later.
   */
  prompt?: Prompt | null | undefined;
  /** Forces a build of the engine; by default the fastest that the browser runs. */
  variant?: Variant | null | undefined;
  /**
   * The folder in which gpt2-worker.js and engine/ lie, relative to the page: of a copy of this package, also at
   * another origin that allows it (CORS). By default they are found beside the module, or where a bundler put them.
   */
  baseUrl?: string | URL | null | undefined;
  /**
   * Sent with every request for a file of the model, as for a private one: to the model's own origin, or the hub's, and
   * to no other. Where the host redirects to another origin, fetch leaves out `Authorization`, so a token for a hub works.
   * Any other header would go along. In browsers, a redirect is then an error; Node.js follows it without the headers.
   */
  headers?: HeadersInit | null | undefined;
  /**
   * Whether cookies go with those requests, as in fetch; by default to the page's own host alone. With "include", a
   * redirect is an error in browsers, as with `headers`.
   */
  credentials?: RequestCredentials | null | undefined;
  /** "error" refuses every redirect, so that no host but the model's own is asked; "follow" is the default. */
  redirect?: "follow" | "error" | null | undefined;
  /**
   * Called in place of fetch for every file of the model, with its address as a string and `signal`, `headers` and
   * `credentials`: to sign addresses, to decrypt, or to read from elsewhere. The worker takes its response chunk by chunk.
   * Where a file goes on after a connection broke, `headers` ask for the rest (`Range`); a response of 200 with all of it
   * does as well.
   */
  fetch?: typeof fetch | null | undefined;
  /**
   * Whether the model is stored on this device, so that the next visit needs no network; true. `listModels` tells what is
   * stored, `removeModel` removes it.
   */
  cache?: boolean | null | undefined;
}

const optionNames = [
  "hub",
  "adapter",
  "threads",
  "signal",
  "onProgress",
  "weights",
  "kv",
  "variant",
  "baseUrl",
  "headers",
  "credentials",
  "redirect",
  "fetch",
  "stallMs",
  "cache",
  "prompt",
];
const credentialChoices = ["omit", "same-origin", "include"] as const;

/** What few pages take is read by a module of its own. */
const pageSources = () =>
  import("./page-sources.js").catch((error: unknown) => {
    throw new LoadError("network", `gpt2-page-sources.js cannot be loaded: ${String(error)}`);
  });

/** What may be an id, a file, or the hub's: all else is a folder's address. */
const unusual = /^hf:|\.gguf|^\w[\w.-]*\/[^/]+$/i;

const isFolder = (source: unknown): boolean =>
  (typeof source === "string" || source instanceof URL) && !unusual.test(String(source));

interface Start {
  (baseUrl?: string, stallMs?: number): Connection;
  /** Where there is something to be done before it can be called. */
  prepare?: () => Promise<void>;
}

/** Loads that are under way or in use, by what was asked for. */
const sharedLoads = new WeakMap<Start, Map<string, SharedLoad>>();

function startLoad(
  connection: Connection,
  request: LoadRequest,
  servePage: ((init: RequestInit, closed: AbortSignal) => MessagePort) | undefined,
  onEnd: () => void,
): SharedLoad {
  const settled = new AbortController();
  const { headers, credentials, redirect } = request;
  const init: RequestInit = {
    headers: headers.map(([...pair]) => pair),
    ...(credentials && { credentials }),
    ...(redirect && { redirect }),
  };
  const fetchPort = servePage?.(init, settled.signal);
  const whole: LoadRequest = {
    ...request,
    threadChoices: readThreadChoices(),
    fetchPort: fetchPort as FetchPort | undefined,
  };
  const load = new SharedLoad(connection, whole, onEnd, fetchPort && [fetchPort]);
  const settle = () => settled.abort();
  load.result.then(settle, settle);
  return load;
}

/**
 * Loads the model at `source`. A failed load can be tried again. Calls with the same source and options share one worker
 * and its memory.
 */
export async function loadModel(source: ModelSource, options: LoadOptions = {}): Promise<Model> {
  // eslint-disable-next-line @typescript-eslint/no-unnecessary-condition -- in Node.js there is neither
  if (!globalThis.document && !globalThis.location) {
    throw new LoadError(
      "unsupported",
      'this module is for browsers: in Node.js import "gpt2-wasm", which is another one there',
    );
  }
  return loadThrough(startWorker, source, options);
}

/** As loadModel, through the worker that `start` starts. */
export async function loadThrough(start: Start, source: unknown, options: unknown): Promise<Model> {
  const fields = readOptions("loadModel", options, optionNames);
  const signal = readSignal(fields.signal);
  const onProgress = readCallback<LoadProgress>("onProgress", fields.onProgress);
  const fetchFile = readFunction<typeof fetch>("fetch", fields.fetch);
  const { hub, adapter } = fields;
  const common: Omit<LoadRequest, "source" | "prompt"> = {
    threads: readCount("threads", fields.threads, 1, threadLimit),
    kv: readChoice("kv", fields.kv, ["q8", "f32"]),
    weights: readChoice("weights", fields.weights, ["q8", "q4", "f32"]),
    variant: readChoice("variant", fields.variant, variants),
    headers: readHeaders("headers", fields.headers),
    credentials: readChoice("credentials", fields.credentials, credentialChoices),
    redirect: readChoice("redirect", fields.redirect, ["follow", "error"]),
    stallMs: readCount("stallMs", fields.stallMs, 1, 2 ** 31 - 1),
    cache: readFlag("cache", fields.cache ?? true),
    threadChoices: {},
    fetchPort: undefined,
  };
  const prompt = readPrompt("prompt", fields.prompt ?? "");
  const baseUrl = fields.baseUrl === undefined ? undefined : readFolder("baseUrl", fields.baseUrl);
  signal?.throwIfAborted();
  const isUsual = hub === undefined && isFolder(source);
  const needsPage = !isUsual || fetchFile || adapter !== undefined;
  const page = needsPage ? await unlessAborted(pageSources(), signal) : undefined;
  const request: Omit<LoadRequest, "prompt"> = {
    ...common,
    source:
      page && !isUsual
        ? await unlessAborted(page.readSource(source, hub), signal)
        : { kind: "folder", url: readFolder("the model's address", source) },
    ...(page &&
      adapter !== undefined && {
        adapters: await unlessAborted(page.readAdapters(adapter, hub), signal),
      }),
  };
  if (start.prepare) await unlessAborted(start.prepare(), signal);
  const loads = sharedLoads.get(start) ?? new Map<string, SharedLoad>();
  sharedLoads.set(start, loads);
  const key = JSON.stringify([request, baseUrl, fetchFile && page?.numberOf(fetchFile)]);
  let load = loads.get(key);
  if (!load) {
    const serve = fetchFile && page?.servePageFetch.bind(null, fetchFile);
    const made = startLoad(start(baseUrl, request.stallMs), { ...request, prompt }, serve, () => {
      if (loads.get(key) === made) loads.delete(key);
    });
    loads.set(key, made);
    load = made;
  }
  const { info, lease } = await load.join(signal, onProgress);
  return new Model(lease, info);
}
