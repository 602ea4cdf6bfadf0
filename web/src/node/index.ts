/** GPT-2 in Node.js: the browser's module, with a worker thread in place of the worker. */
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { loadThrough, type LoadOptions, type ModelSource } from "../client/load-model.js";
import type { Model } from "../client/model.js";
import { LoadError } from "../shared/errors.js";
import { startThread } from "./start-thread.js";

export * from "../client/index.js";

const oldestNode = 20;

/** `owner/name`, or with a revision: an id, unless there is such a folder. */
const plainId = /^\w[\w.-]*\/\w[\w.-]*(@[^@\s]+)?$/;

/** A URL or an id is returned unchanged; a path becomes the URL of its file, relative to the working directory. */
function addressOf(source: unknown, options: LoadOptions | null): unknown {
  const isId = (options?.hub ?? undefined) !== undefined;
  if (typeof source !== "string" || isId || /^[a-z][a-z0-9+.-]+:/i.test(source)) return source;
  const path = resolve(source);
  return plainId.test(source) && !existsSync(path) ? `hf:${source}` : pathToFileURL(path).href;
}

/** The same for the option `adapter`, one or an array. */
function adapterOf(adapter: unknown, options: LoadOptions): unknown {
  if (Array.isArray(adapter)) return adapter.map((one) => adapterOf(one, options));
  if (typeof adapter !== "object" || adapter === null || !("source" in adapter)) {
    return addressOf(adapter, options);
  }
  return { ...adapter, source: addressOf(adapter.source, options) };
}

/**
 * Loads the model at `source`: the path of a folder or of a GGUF file, else as in browsers. `owner/name` is a folder, if
 * there is one of that path, and else the id of a model on the hub.
 */
export async function loadModel(source: ModelSource, options: LoadOptions = {}): Promise<Model> {
  if (Number.parseInt(process.versions.node, 10) < oldestNode) {
    throw new LoadError(
      "unsupported",
      `this is Node.js ${process.versions.node}, but ${oldestNode} or newer is needed`,
    );
  }
  // eslint-disable-next-line @typescript-eslint/no-unnecessary-condition -- callers without types
  const adapter = options?.adapter;
  const wanted = adapter ? { ...options, adapter: adapterOf(adapter, options) } : options;
  return loadThrough(startThread, addressOf(source, options), wanted);
}
