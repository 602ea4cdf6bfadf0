// The source that a request names, be it the page's own fetch, a hub or files.
import type { ConvertOptions } from "../convert/index.js";
import { headersFetch } from "../loader/headers-fetch.js";
import { UrlSource, type ModelSource } from "../loader/model-source.js";
import { steadyFetch, type Patience } from "../loader/steady-fetch.js";
import { fileAddress } from "../shared/file-names.mjs";
import type { FolderRequest, HubRequest, LoadRequest, SourceRequest } from "../shared/protocol.js";
import { ConvertibleSource } from "./convertible-source.js";
import { FilesSource } from "./files-source.js";
import { hubId, HubSource } from "./hub-source.js";
import { pageFetch } from "./page-fetch.js";

/**
 * A name that may be a folder's or an id: the folder, if its host has a config.json there. A host that does not answer is
 * asked again by whoever reads the folder.
 */
async function findFolder(
  folder: FolderRequest,
  hub: HubRequest,
  ask: typeof fetch,
  signal: AbortSignal,
  isStored: (id: string) => Promise<boolean>,
): Promise<FolderRequest | HubRequest> {
  let response: Response;
  try {
    response = await ask(fileAddress(folder.url, "config.json"), { signal });
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
  return models.some((model) => model.id === id && model.isComplete);
}
const isNever = async () => false;

/** What opening a source takes of the worker. */
export interface Opening {
  /** For what comes over a network. */
  patience: Patience;
  signal: AbortSignal;
  fetchBuild: ConvertOptions["fetchBuild"];
}

/** `askOf(home)` returns the `fetch` for a model at `home`. */
function sourceOf(
  found: SourceRequest,
  askOf: (home: string) => typeof fetch,
  patience: Patience,
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

/** Opens what `request` names. */
export async function openSource(
  request: LoadRequest,
  { patience, signal, fetchBuild }: Opening,
): Promise<ModelSource> {
  const { source, fetchPort, weights } = request;
  const askOf = (home: string, wanted: LoadRequest) =>
    fetchPort ? pageFetch(fetchPort) : headersFetch(wanted, home);
  let found: SourceRequest = source;
  if (source.kind === "folder" && source.orHub) {
    // The headers may be meant for the hub, so the folder's host gets them only if it has the model.
    const ask = askOf(source.url, { ...request, headers: [] });
    found = await findFolder(source, source.orHub, ask, signal, request.cache ? isStored : isNever);
  }
  const inner = sourceOf(found, (home) => askOf(home, request), patience);
  // The engine itself makes q8 of a folder's floats.
  if (found.kind === "folder" && found.file === undefined && weights === undefined) return inner;
  const gguf = found.file !== undefined && { gguf: found.file };
  return new ConvertibleSource(inner, { weights: weights ?? "q8", fetchBuild, ...gguf });
}
