// The source that a request names, be it the page's own fetch, a hub or files.
import { headersFetch } from "../loader/headers-fetch.js";
import { UrlSource, type ModelSource } from "../loader/model-source.js";
import { steadyFetch, type Patience } from "../loader/steady-fetch.js";
import { LoadError } from "../shared/errors.js";
import type { FolderRequest, HubRequest, LoadRequest } from "../shared/protocol.js";
import { FilesSource } from "./files-source.js";
import { HubSource } from "./hub-source.js";
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
): Promise<FolderRequest | HubRequest> {
  let response: Response;
  try {
    response = await ask(new URL("config.json", folder.url).href, { signal });
  } catch {
    signal.throwIfAborted();
    return folder;
  }
  void response.body?.cancel();
  const isPage = response.headers.get("content-type")?.startsWith("text/html") ?? false;
  return response.status === 404 || (response.ok && isPage) ? hub : folder;
}

/** Opens what `request` names; `patience` is for what comes over a network. */
export async function openSource(
  request: LoadRequest,
  patience: Patience,
  signal: AbortSignal,
): Promise<ModelSource> {
  const { source, fetchPort } = request;
  const ask = fetchPort ? pageFetch(fetchPort) : headersFetch(request);
  const found =
    source.kind === "folder" && source.orHub ? await findFolder(source, source.orHub, ask, signal) : source;
  if (found.file !== undefined || request.weights === "q4" || request.weights === "f32") {
    throw new LoadError("unsupported", "GGUF files and other weights than q8 have to be converted first");
  }
  switch (found.kind) {
    case "folder":
      return new UrlSource(found.url, steadyFetch(ask, patience));
    case "hub":
      return new HubSource(found, ask, patience);
    case "files":
      return new FilesSource(found);
  }
}
