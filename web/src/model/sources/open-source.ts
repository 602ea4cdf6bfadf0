// Opens the source of a request, such as the page's own fetch, the Hub or local files.
import { headersFetch } from "./headers-fetch.js";
import { isPartOf } from "./model-id.js";
import { isPage, UrlSource, type ModelSource } from "./model-source.js";
import { steadyFetch, type RetryOptions } from "./steady-fetch.js";
import { LoadError } from "../../shared/errors.js";
import { fileAddress } from "../../shared/file-names.mjs";
import { isQuantized } from "./hub-address.js";
import type { FolderRequest, HubRequest, LoadRequest, SourceRequest } from "../../shared/protocol.js";
import { Adapter } from "./adapter.js";
import { ConvertibleSource } from "./convertible-source.js";
import { FilesSource } from "./files-source.js";
import { hubId, HubSource } from "./hub-source.js";
import { pageFetch } from "./page-fetch.js";

/**
 * Resolves a name that may be a folder or an id: the folder if its host has `file` there. If a host does not answer, it
 * is asked again when the folder is read.
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
    return (await isStored(hubId(hub))) ? hub : folder; // without network, what was found the last time
  }
  void response.body?.cancel();
  const isMissing = response.status === 404 || (response.ok && isPage(response));
  return isMissing ? { ...hub, insteadOf: folder.url } : folder;
}

/** The ids of the models that are stored as a whole. */
async function storedIds(): Promise<string[]> {
  const cache = await import("../store/index.js").catch(() => undefined);
  const models = (await cache?.listModels().catch(() => undefined)) ?? [];
  return models.flatMap(({ id, isComplete }) => (isComplete ? id : []));
}
const isStored = async (id: string) => (await storedIds()).some((stored) => isPartOf(id, stored));
const isNever = async () => false;

/** The GGUF file of a hub's model that has the wanted quantization, by the hub's list of files or, without network, a stored one. */
async function findQuantized(
  { quantization = "", ...hub }: HubRequest,
  source: ModelSource,
  signal: AbortSignal,
): Promise<HubRequest> {
  const [start = "", end = ""] = hubId(hub).split(/(?=@)/);
  const stored = (id: string) =>
    id.startsWith(`${start}/`) && id.endsWith(end) ? id.slice(start.length + 1, -end.length) : [];
  const listed = await source.list?.(signal);
  const files = (listed ?? (await storedIds()).flatMap(stored)).filter((name) => /\.gguf$/i.test(name));
  const file = files.find((name) => isQuantized(name, quantization));
  if (file !== undefined) return { ...hub, file };
  const found = listed
    ? `its GGUF files are ${files.slice(0, 20).join(", ") || "none"}`
    : "the hub does not list its files";
  throw new LoadError(
    listed ? "not-found" : "network",
    `${hub.id} has no GGUF file of quantization ${quantization}: ${found}`,
  );
}

/** What opening a source needs from the worker. */
export interface OpenContext {
  /** Retry options for the network. */
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
      return new UrlSource(found.url, steadyFetch(askOf(found.url), patience, "passing"), found);
    case "hub":
      return new HubSource(found, askOf(found.hub), patience);
    case "files":
      return new FilesSource(found);
  }
}

/** The origin that serves a model; undefined for local files. */
const originOf = (found: SourceRequest): string | undefined =>
  found.kind === "files" ? undefined : new URL(found.kind === "hub" ? found.hub : found.url).origin;

/** The request to an adapter's host. Headers and credentials go to the model's host, unless the model is local. */
function askingFor(adapter: SourceRequest, model: SourceRequest, request: LoadRequest): LoadRequest {
  const isHome = model.kind === "files" || originOf(adapter) === originOf(model);
  return isHome ? request : { ...request, headers: [], credentials: undefined };
}

/** Opens the source of `request`. */
export async function openSource(
  request: LoadRequest,
  { patience, signal }: OpenContext,
): Promise<ModelSource> {
  const { source, fetchPort, weights, adapters = [] } = request;
  const askOf = (home: string, wanted: LoadRequest) =>
    fetchPort ? pageFetch(fetchPort, wanted) : headersFetch(wanted, home);
  const find = async (wanted: SourceRequest, file: string): Promise<SourceRequest> => {
    if (wanted.kind !== "folder" || !wanted.orHub) return wanted;
    // The headers may be meant for the Hub, so the folder's host gets them only if it has the model.
    const ask = askOf(wanted.url, { ...request, headers: [] });
    return findFolder(wanted, wanted.orHub, file, ask, signal, request.cache ? isStored : isNever);
  };
  let found = await find(source, "config.json");
  if (found.kind === "hub" && found.quantization !== undefined) {
    const listing = sourceOf(found, (home) => askOf(home, request), patience);
    found = await findQuantized(found, listing, signal);
  }
  const inner = sourceOf(found, (home) => askOf(home, request), patience);
  const opened = adapters.map(async (adapter) => {
    const place = await find(adapter.source, "adapter_config.json");
    const wanted = askingFor(place, found, request);
    return new Adapter(
      sourceOf(place, (home) => askOf(home, wanted), patience),
      adapter.weight,
    );
  });
  // Without an index, the load opens it again with `weights`.
  const isPlain = found.kind === "folder" && found.file === undefined && weights === undefined;
  if (isPlain && opened.length === 0) return inner;
  const gguf = found.file !== undefined && { gguf: found.file };
  const merged = opened.length > 0 && { adapters: await Promise.all(opened) };
  return new ConvertibleSource(inner, { weights: weights ?? "q8", ...gguf, ...merged });
}
