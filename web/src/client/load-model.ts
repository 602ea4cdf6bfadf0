// Loading a model.
import type { LoadProgress, Variant } from "../shared/types.js";
import { variants } from "../shared/types.js";
import { readCallback, readChoice, readCount, readOptions, readSignal, refuse, shown } from "./arguments.js";
import type { Connection } from "./connection.js";
import { Model } from "./model.js";
import { startWorker } from "./start-worker.js";
import { readThreadChoices, rememberThreads } from "./thread-choices.js";

export interface LoadOptions {
  /** Threads to compute with, 1 to 64; by default as many as were fastest when it was measured, once per device. */
  threads?: number | undefined;
  signal?: AbortSignal | undefined;
  onProgress?: ((progress: LoadProgress) => void) | undefined;
  /** Format of the KV cache; by default as the weights. */
  kv?: "q8" | "f32" | undefined;
  /** Forces a build of the engine; by default the fastest that the browser runs. */
  variant?: Variant | undefined;
  /**
   * The folder in which gpt2-worker.js and engine/ lie, relative to the page: of a copy of this package, also at
   * another origin that allows it (CORS). By default they are found beside the module, or where a bundler put them.
   */
  baseUrl?: string | URL | undefined;
}

const optionNames = ["threads", "signal", "onProgress", "kv", "variant", "baseUrl"];

/** The absolute address of a folder, with a slash at the end; `what` it is the address of, for messages. */
function readFolder(what: string, url: unknown): string {
  if (typeof url !== "string" && !(url instanceof URL)) {
    return refuse(`${what} is ${shown(url)}, expected a URL`);
  }
  // A worker may load models, too, and has no document.
  const base = typeof document === "undefined" ? location.href : document.baseURI;
  let folder: URL;
  try {
    folder = new URL(url, base);
  } catch {
    return refuse(`${what} is ${shown(url)}, which is no URL`);
  }
  folder.pathname = folder.pathname.replace(/\/*$/, "/");
  return folder.href;
}

/** Loads the model folder at `url`, relative to the page. A failed load can be tried again. */
export async function loadModel(url: string | URL, options: LoadOptions = {}): Promise<Model> {
  return loadThrough(startWorker, url, options);
}

/** As loadModel, through the worker that `start` starts. */
export async function loadThrough(
  start: (baseUrl?: string) => Connection,
  url: unknown,
  options: unknown,
): Promise<Model> {
  const fields = readOptions("loadModel", options, optionNames);
  const signal = readSignal(fields.signal);
  const onProgress = readCallback<LoadProgress>("onProgress", fields.onProgress);
  const request = {
    folder: readFolder("the model's address", url),
    threads: readCount("threads", fields.threads, 1, 64),
    kv: readChoice("kv", fields.kv, ["q8", "f32"]),
    variant: readChoice("variant", fields.variant, variants),
    threadChoices: readThreadChoices(),
  };
  const baseUrl = fields.baseUrl === undefined ? undefined : readFolder("baseUrl", fields.baseUrl);
  signal?.throwIfAborted();
  const connection = start(baseUrl);
  try {
    const { info, threadChoice } = await connection.request("load", request, { signal, onEvent: onProgress });
    if (threadChoice) rememberThreads(threadChoice.key, threadChoice.threads);
    return new Model(connection, info);
  } catch (error) {
    void connection.dispose();
    throw error;
  }
}
