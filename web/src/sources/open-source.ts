// The source that a request names, be it the page's own fetch, a hub or files.
import type { ConvertOptions } from "../convert/index.js";
import { headersFetch } from "../loader/headers-fetch.js";
import { UrlSource, type ModelSource } from "../loader/model-source.js";
import { steadyFetch, type Patience } from "../loader/steady-fetch.js";
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
    response = await ask(new URL("config.json", folder.url).href, { signal });
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

function sourceOf(found: SourceRequest, ask: typeof fetch, patience: Patience): ModelSource {
  switch (found.kind) {
    case "folder":
      return new UrlSource(found.url, steadyFetch(ask, patience, "passing"));
    case "hub":
      return new HubSource(found, ask, patience);
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
  const ask = fetchPort ? pageFetch(fetchPort) : headersFetch(request);
  const found =
    source.kind === "folder" && source.orHub
      ? await findFolder(source, source.orHub, ask, signal, request.cache ? isStored : isNever)
      : source;
  const inner = sourceOf(found, ask, patience);
  // The engine itself makes q8 of a folder's floats.
  if (found.kind === "folder" && found.file === undefined && weights === undefined) return inner;
  const gguf = found.file !== undefined && { gguf: found.file };
  return new ConvertibleSource(inner, { weights: weights ?? "q8", fetchBuild, ...gguf });
}
