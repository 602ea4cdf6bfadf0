// The source that a request names, be it the page's own fetch, a hub or files.
import { headersFetch } from "../loader/headers-fetch.js";
import { isPartOf } from "../loader/model-id.js";
import { UrlSource, type ModelSource } from "../loader/model-source.js";
import { steadyFetch, type RetryOptions } from "../loader/steady-fetch.js";
import { fileAddress } from "../shared/file-names.mjs";
import type { FolderRequest, HubRequest, LoadRequest, SourceRequest } from "../shared/protocol.js";
import { Adapter } from "./adapter.js";
import { ConvertibleSource } from "./convertible-source.js";
import { FilesSource } from "./files-source.js";
import { hubId, HubSource } from "./hub-source.js";
import { pageFetch } from "./page-fetch.js";

/**
 * A name that may be a folder's or an id: the folder, if its host has `file` there. A host that does not answer is
 * asked again when the folder is read.
 */
async function findFolder(
  folder: FolderRequest,
  hub: HubRequest,
  file: string,
  ask: typeof fetch,
  signal: AbortSignal,
  isStored: (id: string) => Promise<boolean>,
): Promise<FolderRequest | HubRequest> {
  let response: Response;
  try {
    response = await ask(fileAddress(folder.url, file), { signal });
  } catch {
    signal.throwIfAborted();
    return (await isStored(hubId(hub))) ? hub : folder; // what was found the last time, without network
  }
  void response.body?.cancel();
  const isPage = response.headers.get("content-type")?.startsWith("text/html") ?? false;
  const isMissing = response.status === 404 || (response.ok && isPage);
  return isMissing ? { ...hub, insteadOf: folder.url } : folder;
}

async function isStored(id: string): Promise<boolean> {
  const cache = await import("../cache/index.js").catch(() => undefined);
  const models = (await cache?.listModels().catch(() => undefined)) ?? [];
  return models.some((model) => isPartOf(id, model.id) && model.isComplete);
}
const isNever = async () => false;

/** What opening a source takes of the worker. */
export interface OpenContext {
  /** For what comes over a network. */
  patience: RetryOptions;
  signal: AbortSignal;
}

/** `askOf(home)` returns the `fetch` for a model at `home`. */
function sourceOf(
  found: SourceRequest,
  askOf: (home: string) => typeof fetch,
  patience: RetryOptions,
): ModelSource {
  switch (found.kind) {
    case "folder":
      return new UrlSource(found.url, steadyFetch(askOf(found.url), patience, "passing"), found.file);
    case "hub":
      return new HubSource(found, askOf(found.hub), patience);
    case "files":
      return new FilesSource(found);
  }
}

/** The origin that is asked for a model; undefined for one of this device. */
const originOf = (found: SourceRequest): string | undefined =>
  found.kind === "files" ? undefined : new URL(found.kind === "hub" ? found.hub : found.url).origin;

/** What is asked of the host of an adapter: headers and credentials are the model's host's, unless that is this device. */
function askingFor(adapter: SourceRequest, model: SourceRequest, request: LoadRequest): LoadRequest {
  const isHome = model.kind === "files" || originOf(adapter) === originOf(model);
  return isHome ? request : { ...request, headers: [], credentials: undefined };
}

/** Opens what `request` names. */
export async function openSource(
  request: LoadRequest,
  { patience, signal }: OpenContext,
): Promise<ModelSource> {
  const { source, fetchPort, weights, adapters = [] } = request;
  const askOf = (home: string, wanted: LoadRequest) =>
    fetchPort ? pageFetch(fetchPort) : headersFetch(wanted, home);
  const find = async (wanted: SourceRequest, file: string): Promise<SourceRequest> => {
    if (wanted.kind !== "folder" || !wanted.orHub) return wanted;
    // The headers may be meant for the hub, so the folder's host gets them only if it has the model.
    const ask = askOf(wanted.url, { ...request, headers: [] });
    return findFolder(wanted, wanted.orHub, file, ask, signal, request.cache ? isStored : isNever);
  };
  const found = await find(source, "config.json");
  const inner = sourceOf(found, (home) => askOf(home, request), patience);
  const opened = adapters.map(async (adapter) => {
    const place = await find(adapter.source, "adapter_config.json");
    const wanted = askingFor(place, found, request);
    return new Adapter(
      sourceOf(place, (home) => askOf(home, wanted), patience),
      adapter.weight,
    );
  });
  // The engine itself makes q8 of a folder's floats.
  const isPlain = found.kind === "folder" && found.file === undefined && weights === undefined;
  if (isPlain && opened.length === 0) return inner;
  const gguf = found.file !== undefined && { gguf: found.file };
  const merged = opened.length > 0 && { adapters: await Promise.all(opened) };
  return new ConvertibleSource(inner, { weights: weights ?? "q8", ...gguf, ...merged });
}
