// gpt2-cache.js: stores models on this device. The worker loads it beside a model's first files, and a page loads it to
// list stored models.
import { headersFetch } from "../sources/headers-fetch.js";
import { withFile } from "../sources/model-id.js";
import { fetchFile, isPage, type ModelSource } from "../sources/model-source.js";
import { readWhole } from "../sources/read-text.js";
import { shardNames } from "../convert/weight-files.js";
import { LoadError } from "../../shared/errors.js";
import { fileAddress } from "../../shared/file-names.mjs";
import type { FolderRequest, LoadRequest } from "../../shared/protocol.js";
import { CachedSource } from "./cached-source.js";
import { isModelFile, longPatienceMs, type Revalidation } from "./revalidation.js";
import { openStoreFor } from "./open-store.js";
import { digestOf } from "./records.js";
import { sha256 } from "../sha256.js";

export { keepModel, listModels, removeModel, storage } from "./models.js";

/** How long the load of a stored model waits for an answer of its host, in milliseconds. */
const patienceMs = 500;

/** The contents of a file on its host now. The browser's copy is used only if the host confirms it. */
async function readNow(
  { url, query = "" }: FolderRequest,
  name: string,
  ask: typeof fetch,
  signal: AbortSignal,
): Promise<Uint8Array<ArrayBuffer>> {
  const { body } = await fetchFile(fileAddress(url, name) + query, signal, ask, { cache: "no-cache" });
  return readWhole({ size: undefined, stream: body ?? new Blob([]).stream() }, name, signal);
}

type VersionOf = NonNullable<ModelSource["version"]>;

/** The host's name for the version of a file: "" if it has none, undefined if there is no such file. */
async function fileVersion(url: string, ask: typeof fetch, signal: AbortSignal): Promise<string | undefined> {
  const init: RequestInit = { cache: "no-cache", signal };
  let response = await ask(url, { ...init, method: "HEAD" });
  if (response.status === 403 || response.status === 405) {
    response = await ask(url, init); // a signature covers the method, too
    void response.body?.cancel();
  }
  if (!response.ok || isPage(response)) return undefined;
  const headers = ["etag", "last-modified", "content-length"];
  const said = headers.map((header) => response.headers.get(header) ?? "");
  return said.join("") && said.join(" ");
}

/** The version of a folder's weights, with that of each shard; undefined if the host does not name all of them. */
async function weightsVersion(
  folder: FolderRequest,
  ask: typeof fetch,
  signal: AbortSignal,
): Promise<string | undefined> {
  const versionIn = (name: string) => fileVersion(folder.url + name + (folder.query ?? ""), ask, signal);
  const wholes = ["model.safetensors", "pytorch_model.bin"]; // the same names as in convert/weight-files.ts
  for (const name of ["weights.json", ...wholes.flatMap((whole) => [whole, `${whole}.index.json`])]) {
    const version = await versionIn(name);
    if (version === undefined) continue;
    const shards = name.endsWith(".index.json")
      ? shardNames(name, new TextDecoder().decode(await readNow(folder, name, ask, signal)))
      : [];
    const all = [version, ...(await Promise.all(shards.map(versionIn)))];
    return all.every(Boolean) ? all.join(" ") : undefined;
  }
  return undefined;
}

/** Separates the versions of the adapters, which do not contain it, from their model's version. */
const modelFollows = " + ";

/** As modelVersionOf, for a model with adapters: the adapters' versions, followed by the model's if known. */
function versionOf(source: ModelSource, request: LoadRequest): VersionOf | undefined {
  const version = modelVersionOf(source, request);
  if (!version || !source.adapterVersion) return version;
  return async (signal) => {
    const [model = "", adapters] = await Promise.all([version(signal), source.adapterVersion?.(signal)]);
    return adapters === undefined ? undefined : adapters + modelFollows + model;
  };
}

/** The host's name for its current version; undefined if the files themselves are compared. */
function modelVersionOf(source: ModelSource, request: LoadRequest): VersionOf | undefined {
  if (source.version) return source.version.bind(source);
  const wanted = request.source;
  return wanted.kind === "folder" && source.weights !== undefined
    ? floatsVersion(wanted, request)
    : undefined;
}

/** The version of a folder's float weights and its config.json, or of its GGUF file. */
function floatsVersion(folder: FolderRequest, request: LoadRequest): VersionOf {
  const { url, file, query = "" } = folder;
  const ask = headersFetch(request, url);
  return async (signal) => {
    if (file !== undefined) {
      const version = await fileVersion(url + file + query, ask, signal);
      // Without a version, only the query can tell two files apart.
      return version === "" && query ? digestOf(query) : version || undefined;
    }
    const config = readNow(folder, "config.json", ask, signal).then(sha256);
    const [weights, hash] = await Promise.all([weightsVersion(folder, ask, signal), config]);
    return weights && `${weights} ${hash}`;
  };
}

/** Whether the host's version differs from the record's. */
function versionHasChanged(version: VersionOf): Revalidation["hasChanged"] {
  return async (record, signal) => {
    const found = await version(signal);
    if (found === undefined || found === record.version) return false;
    // The adapters are unchanged, and the model's host reports no version.
    return !(found.endsWith(modelFollows) && record.version?.startsWith(found));
  };
}

/** Whether a folder on the host differs from a record. `version` is that of its float weights. */
function folderHasChanged(
  folder: FolderRequest,
  request: LoadRequest,
  version: VersionOf,
): Revalidation["hasChanged"] {
  const ask = headersFetch(request, folder.url);
  const isOther = versionHasChanged(version);
  return async (record, signal) => {
    if (folder.file !== undefined) return isOther(record, signal); // the other stored files are made from it
    // A conversion makes these two files, and the version covers those of the host. Before version 2, weights.json does not
    // list config.json.
    const isConverted = record.weights !== undefined;
    const made = ["weights.json", "config.json"];
    const compared = record.files.filter(({ path }) => made.includes(path) !== isConverted);
    const changed = compared.map(async ({ path, sha256: expected }) => {
      const bytes = await readNow(folder, path, ask, signal);
      // A host that is down, or a network's sign-in page, may answer any request with 200.
      if (!isConverted && !isModelFile(path, bytes))
        throw new LoadError("network", `the host sent a ${path} that does not belong to a model`);
      return (await sha256(bytes)) !== expected;
    });
    const files = Promise.all(changed);
    files.catch(() => {}); // awaited below, unless the version answers
    return (isConverted && (await isOther(record, signal))) || (await files).includes(true);
  };
}

function revalidationOf(source: ModelSource, request: LoadRequest): Revalidation | undefined {
  // A page's own fetch may return another model under the same address each time.
  if (request.fetchPort) return undefined;
  const isPersonal = request.headers.length > 0 || request.credentials !== undefined;
  const patience = { patienceMs: isPersonal ? longPatienceMs : patienceMs };
  const version = versionOf(source, request);
  if (version && source.version) return { hasChanged: versionHasChanged(version), version, ...patience };
  const wanted = request.source;
  if (wanted.kind !== "folder") return undefined;
  const hasChanged = folderHasChanged(wanted, request, version ?? floatsVersion(wanted, request));
  return { hasChanged, ...(version && { version }), ...patience };
}

/** `source` with a store on this device; `source` itself if its files are local. */
export async function cached(source: ModelSource, request: LoadRequest): Promise<ModelSource> {
  const id = source.id && withFile(source.id, request.source.file);
  if (id === undefined && request.source.kind !== "files") {
    source.notStored = async () => "an adapter from local files is not stored";
  }
  if (id === undefined || !/^(https?|hf):/.test(id)) return source;
  const { store, refusal } = await openStoreFor(id);
  if (store) return new CachedSource(store, source, id, revalidationOf(source, request));
  source.notStored = async () => refusal;
  return source;
}
