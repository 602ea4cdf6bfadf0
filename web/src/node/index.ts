/** GPT-2 in Node.js: the module that browsers have, with a worker thread in place of their worker. */
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { loadThrough, type LoadOptions } from "../client/load-model.js";
import type { Model } from "../client/model.js";
import { LoadError } from "../shared/errors.js";
import { startThread } from "./start-thread.js";

export * from "../client/index.js";

const oldestNode = 20;

/** A URL as it is; a path, relative to the working directory, as the URL of its file. */
function addressOf(folder: unknown): unknown {
  if (typeof folder !== "string" || /^[a-z][a-z0-9+.-]+:/i.test(folder)) return folder;
  return pathToFileURL(resolve(folder)).href;
}

/** Loads the model folder `folder`: a path, or a URL. Otherwise as in browsers. */
export async function loadModel(folder: string | URL, options: LoadOptions = {}): Promise<Model> {
  if (Number.parseInt(process.versions.node, 10) < oldestNode) {
    throw new LoadError(
      "unsupported",
      `this is Node.js ${process.versions.node}, but ${oldestNode} or newer is needed`,
    );
  }
  return loadThrough(startThread, addressOf(folder), options);
}
