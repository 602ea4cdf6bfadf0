// Loading a model.
import { LoadError } from "../shared/errors.js";
import { threadLimit, type FetchPort, type LoadRequest } from "../shared/protocol.js";
import type { LoadProgress, Variant } from "../shared/types.js";
import { variants } from "../shared/types.js";
import {
  readCallback,
  readChoice,
  readCount,
  readFunction,
  readHeaders,
  readOptions,
  readSignal,
  refuse,
  shown,
} from "./arguments.js";
import type { Connection } from "./connection.js";
import { Model } from "./model.js";
import { servePageFetch } from "./page-fetch.js";
import { SharedLoad } from "./shared-load.js";
import { startWorker } from "./start-worker.js";
import { readThreadChoices, rememberThreads } from "./thread-choices.js";

export interface LoadOptions {
  /** Threads to compute with, 1 to 64; by default as many as were fastest when it was measured, once per device. */
  threads?: number | null | undefined;
  signal?: AbortSignal | null | undefined;
  onProgress?: ((progress: LoadProgress) => void) | null | undefined;
  /** Format of the KV cache; by default as the weights. */
  kv?: "q8" | "f32" | null | undefined;
  /**
   * Milliseconds without a byte after which a host's connection counts as broken; 20,000. What breaks is asked for again
   * a few times, and goes on where it was.
   */
  stallMs?: number | null | undefined;
  /** Forces a build of the engine; by default the fastest that the browser runs. */
  variant?: Variant | null | undefined;
  /**
   * The folder in which gpt2-worker.js and engine/ lie, relative to the page: of a copy of this package, also at
   * another origin that allows it (CORS). By default they are found beside the module, or where a bundler put them.
   */
  baseUrl?: string | URL | null | undefined;
  /** Sent with every request for a file of the model, as for a private one; nothing else gets them. */
  headers?: HeadersInit | null | undefined;
  /** Whether cookies go with those requests, as in fetch; by default to the page's own host alone. */
  credentials?: RequestCredentials | null | undefined;
  /**
   * Called in place of fetch for every file of the model, with its address as a string and `signal`, `headers` and
   * `credentials`: to sign addresses, to decrypt, or to read from elsewhere. The worker takes its response chunk by chunk.
   */
  fetch?: typeof fetch | null | undefined;
}

const optionNames = [
  "threads",
  "signal",
  "onProgress",
  "kv",
  "variant",
  "baseUrl",
  "headers",
  "credentials",
  "fetch",
  "stallMs",
];
const credentialChoices = ["omit", "same-origin", "include"] as const;

/** The absolute address of a folder, with a slash at the end; `what` it is the address of, for messages. */
function readFolder(what: string, url: unknown): string {
  if (typeof url !== "string" && !(url instanceof URL)) {
    return refuse(`${what} is ${shown(url)}, expected a URL`);
  }
  // A worker may load models, too, and has no document; Node.js has absolute addresses only.
  const base =
    (globalThis as Partial<typeof globalThis>).document?.baseURI ??
    (globalThis as Partial<typeof globalThis>).location?.href;
  let folder: URL;
  try {
    folder = new URL(url, base);
  } catch {
    return refuse(`${what} is ${shown(url)}, which is no URL`);
  }
  folder.pathname = folder.pathname.replace(/\/*$/, "/");
  return folder.href;
}

type Start = (baseUrl?: string) => Connection;

/** Loads that are under way or in use, by what was asked for. */
const sharedLoads = new WeakMap<Start, Map<string, SharedLoad>>();

/** Functions have no text to be compared by. */
const fetchNumbers = new WeakMap<typeof fetch, number>();
let lastFetchNumber = 0;
function numberOf(fetchFile: typeof fetch): number {
  const number = fetchNumbers.get(fetchFile) ?? ++lastFetchNumber;
  fetchNumbers.set(fetchFile, number);
  return number;
}

function startLoad(
  connection: Connection,
  request: LoadRequest,
  fetchFile: typeof fetch | undefined,
  onEnd: () => void,
): SharedLoad {
  const settled = new AbortController();
  const { headers, credentials } = request;
  const init: RequestInit = {
    headers: headers.map(([...pair]) => pair),
    ...(credentials && { credentials }),
  };
  const fetchPort = fetchFile && servePageFetch(fetchFile, init, settled.signal);
  const whole: LoadRequest = {
    ...request,
    threadChoices: readThreadChoices(),
    fetchPort: fetchPort as FetchPort | undefined,
  };
  const load = new SharedLoad(connection, whole, onEnd, fetchPort && [fetchPort]);
  const settle = () => settled.abort();
  load.result.then(({ threadChoice }) => {
    if (threadChoice) rememberThreads(threadChoice.key, threadChoice.threads);
    settle();
  }, settle);
  return load;
}

/**
 * Loads the model folder at `url`, relative to the page. A failed load can be tried again. Calls with the
 * same address and options share one worker and its memory.
 */
export async function loadModel(url: string | URL, options: LoadOptions = {}): Promise<Model> {
  // eslint-disable-next-line @typescript-eslint/no-unnecessary-condition -- in Node.js there is neither
  if (!globalThis.document && !globalThis.location) {
    throw new LoadError(
      "unsupported",
      'this module is for browsers: in Node.js import "gpt2-wasm", which is another one there',
    );
  }
  return loadThrough(startWorker, url, options);
}

/** As loadModel, through the worker that `start` starts. */
export async function loadThrough(start: Start, url: unknown, options: unknown): Promise<Model> {
  const fields = readOptions("loadModel", options, optionNames);
  const signal = readSignal(fields.signal);
  const onProgress = readCallback<LoadProgress>("onProgress", fields.onProgress);
  const fetchFile = readFunction<typeof fetch>("fetch", fields.fetch);
  const request: LoadRequest = {
    source: { kind: "folder", url: readFolder("the model's address", url) },
    threads: readCount("threads", fields.threads, 1, threadLimit),
    kv: readChoice("kv", fields.kv, ["q8", "f32"]),
    variant: readChoice("variant", fields.variant, variants),
    headers: readHeaders("headers", fields.headers),
    credentials: readChoice("credentials", fields.credentials, credentialChoices),
    stallMs: readCount("stallMs", fields.stallMs, 1, 2 ** 31 - 1),
    threadChoices: {},
    fetchPort: undefined,
  };
  const baseUrl =
    (fields.baseUrl ?? undefined) === undefined ? undefined : readFolder("baseUrl", fields.baseUrl);
  signal?.throwIfAborted();
  const loads = sharedLoads.get(start) ?? new Map<string, SharedLoad>();
  sharedLoads.set(start, loads);
  const key = JSON.stringify([request, baseUrl, fetchFile && numberOf(fetchFile)]);
  let load = loads.get(key);
  if (!load) {
    const made = startLoad(start(baseUrl), request, fetchFile, () => {
      if (loads.get(key) === made) loads.delete(key);
    });
    loads.set(key, made);
    load = made;
  }
  const { info, lease } = await load.join(signal, onProgress);
  return new Model(lease, info);
}
