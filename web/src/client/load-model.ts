// Loads a model.
import { kvFormats, weightFormats, type KvFormat, type WeightFormat } from "../shared/formats.js";
import { LoadError } from "../shared/errors.js";
import { unlessAborted } from "../shared/unless-aborted.js";
import { hubHosts, threadLimit, type FetchPort, type LoadRequest } from "../shared/protocol.js";
import type { LoadProgress, Prompt, Variant } from "../shared/types.js";
import { variants } from "../shared/types.js";
import { readChoice, readFlag, readHeaders, readPrompt } from "./arguments.js";
import { readCallback, readFunction, readOptions, readSignal } from "../shared/arguments.js";
import { readCount } from "../shared/refuse.js";
import type { Connection } from "./connection.js";
import { readFolder } from "./folder-address.js";
import { Model } from "./model.js";
import { SharedLoad } from "./shared-load.js";
import { startWorker } from "./start-worker.js";
import { readThreadChoices } from "./thread-choices.js";

/** A class of the DOM; never, where the library "DOM" is not loaded, as in a program for Node.js. */
type OfDom<Name extends string> =
  typeof globalThis extends Record<Name, { prototype: infer Instance }> ? Instance : never;

/**
 * Where a model is:
 * - The URL of a folder, relative to the page, or of a GGUF file (…/NAME.gguf).
 * - `hf:owner/name`, `hf:owner/name@revision`, `hf:owner/name/FILE.gguf`: a model on the Hugging Face Hub. `hf:owner/name:Q8_0`
 *   is its GGUF file of that quantization. The address of its page there, or of a file, works, too.
 * - `owner/name`, `owner/name@revision`, with no slash at the end: the folder of this name beside the page. If the page's
 *   host has no such folder, the Hub's model.
 * - Files of this device: the files or the folder of an `<input type="file">`, or a handle of a folder or file.
 */
export type ModelSource =
  | string
  | URL
  | File
  | Iterable<File>
  | OfDom<"FileList">
  | OfDom<"FileSystemDirectoryHandle">
  | OfDom<"FileSystemFileHandle">;

/** A LoRA adapter, whose source is given like a model's. `weight` multiplies what the adapter adds; default 1. */
export type AdapterSource = ModelSource | { source: ModelSource; weight?: number | null | undefined };

/** Options of `loadModel`. */
export interface LoadOptions {
  /** The base address of another hub with the API of `https://huggingface.co`. The model is then an id, with or without `hf:`. */
  hub?: string | URL | null | undefined;
  /** Number of threads, 1 to 64; by default the fastest number, which is measured once per device. */
  threads?: number | null | undefined;
  /** Aborts the load. */
  signal?: AbortSignal | null | undefined;
  /** Called with the progress, about 20 times a second. */
  onProgress?: ((progress: LoadProgress) => void) | null | undefined;
  /** Format to which a float model is converted while it is read; default "q8". A model already converted to another format is an error. */
  weights?: WeightFormat | null | undefined;
  /**
   * One or several LoRA adapters in PEFT's format (adapter_config.json, adapter_model.safetensors). They are merged into a
   * float model before it is quantized.
   */
  adapter?: AdapterSource | readonly AdapterSource[] | null | undefined;
  /** Format of the KV cache; by default "f32" for float weights, and "q8" for others. */
  kv?: KvFormat | null | undefined;
  /**
   * Milliseconds without a byte after which a connection counts as broken; default 20,000. A broken download is retried a
   * few times, and resumes where it stopped.
   */
  stallMs?: number | null | undefined;
  /**
   * The prompt of the first generation. It runs through each layer as soon as its weights arrive, so the first token is one
   * step away when the load ends. The text may still change: its unchanged beginning is not computed again.
   */
  prompt?: Prompt | null | undefined;
  /** Forces a build of the engine; by default the fastest one that the browser supports. */
  variant?: Variant | null | undefined;
  /**
   * The folder with gpt2-worker.js and engine/, relative to the page. It may be at another origin that allows it (CORS). By
   * default they are found beside the module, or where a bundler put them.
   */
  baseUrl?: string | URL | null | undefined;
  /**
   * Headers for every request for a file of the model, as for a private one. They go to the model's own origin, or the Hub's,
   * and to no other. When a host redirects to another origin, fetch drops `Authorization`, so a token for a hub works. With
   * any other header such a redirect is an error in browsers; Node.js follows it without the headers.
   */
  headers?: ConstructorParameters<typeof Headers>[0] | null | undefined;
  /**
   * Whether cookies go with those requests, as in fetch; by default only to the page's own host. With "include", a redirect
   * is an error in browsers, as with `headers`.
   */
  credentials?: "omit" | "same-origin" | "include" | null | undefined;
  /** "error" refuses every redirect, so that only the model's own host gets requests; default "follow". */
  redirect?: "follow" | "error" | null | undefined;
  /**
   * Called instead of fetch for every file of the model, to sign addresses, to decrypt, or to read from another place. It gets
   * the address as a string, `signal`, and the `headers` and `credentials` that are meant for that address. The worker reads
   * its response chunk by chunk. To resume a file, `headers` ask for the rest (`Range`); a response of 200 with the whole
   * file also works.
   */
  fetch?: typeof fetch | null | undefined;
  /**
   * Whether the model is stored on this device, so that the next visit needs no network; default true. `listModels` lists the
   * stored models, and `removeModel` removes one.
   */
  cache?: boolean | null | undefined;
}

const optionNames = [
  ..."hub adapter threads signal onProgress weights kv variant baseUrl".split(" "),
  ..."headers credentials redirect fetch stallMs cache prompt".split(" "),
];
const credentialChoices = ["omit", "same-origin", "include"] as const;

/** Sources that few pages use are read by a separate module. */
const pageSources = () =>
  import("./page-sources.js").catch((error: unknown) => {
    throw new LoadError("network", `gpt2-page-sources.js cannot be loaded: ${String(error)}`);
  });

/** What may be an id, a file, signed, or on the Hub. Everything else is a folder's address. */
const unusual = new RegExp(String.raw`^\s*$|^hf:|\?|\.gguf|^\w[\w.-]*/[^/]+$|//${hubHosts}/`, "i");

const isFolder = (source: unknown): boolean =>
  (typeof source === "string" || source instanceof URL) && !unusual.test(String(source));

interface Start {
  (baseUrl?: string, stallMs?: number): Connection;
  /** Called before the first start, if something must be prepared. */
  prepare?: () => Promise<void>;
}

/** Loads that are running or in use, by their arguments. */
const sharedLoads = new WeakMap<Start, Map<string, SharedLoad>>();

function startLoad(
  connection: Connection,
  request: LoadRequest,
  servePage: ((closed: AbortSignal) => MessagePort) | undefined,
  onEnd: () => void,
): SharedLoad {
  const settled = new AbortController();
  const fetchPort = servePage?.(settled.signal);
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
      'this module is for browsers: in Node.js, import "gpt2-wasm" instead of this file',
    );
  }
  return loadThrough(startWorker, source, options);
}

/** Implements loadModel with the worker that `start` starts. */
export async function loadThrough(start: Start, source: unknown, options: unknown): Promise<Model> {
  const fields = readOptions("loadModel", options, optionNames);
  const signal = readSignal(fields.signal);
  const onProgress = readCallback<LoadProgress>("onProgress", fields.onProgress);
  const fetchFile = readFunction<typeof fetch>("fetch", fields.fetch);
  const { hub, adapter } = fields;
  const common: Omit<LoadRequest, "source" | "prompt"> = {
    threads: readCount("threads", fields.threads, 1, threadLimit),
    kv: readChoice("kv", fields.kv, kvFormats),
    weights: readChoice("weights", fields.weights, weightFormats),
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
