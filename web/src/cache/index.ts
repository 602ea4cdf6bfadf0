// gpt2-cache.js: stores models on this device. The worker loads it beside a model's first files, and a page loads it to
// list stored models.
import { headersFetch } from "../loader/headers-fetch.js";
import { withFile } from "../loader/model-id.js";
import { isPage, UrlSource, type ModelSource } from "../loader/model-source.js";
import { readWhole } from "../loader/read-text.js";
import { LoadError } from "../shared/errors.js";
import type { FolderRequest, LoadRequest } from "../shared/protocol.js";
import { CachedSource } from "./cached-source.js";
import { isModelFile, longPatienceMs, type Revalidation } from "./revalidation.js";
import { openStoreFor } from "./open-store.js";
import { sha256 } from "../loader/sha256.js";

export { keepModel, listModels, removeModel, storage } from "./models.js";

/** If the model is stored, a slower host is not waited for. */
const patienceMs = 500;

/** Whether a folder's files on the host differ from those of a record. */
function folderHasChanged(folder: UrlSource): Revalidation["hasChanged"] {
  return async ({ files }, signal) => {
    // Before version 2, weights.json does not list config.json.
    const asked = files.filter(({ path }) => ["weights.json", "config.json"].includes(path));
    const changed = asked.map(async ({ path, sha256: expected }) => {
      const bytes = await readWhole(await folder.open(path, { signal, anew: true }), path, signal);
      // A host that is down, or a network's sign-in page, may answer any request with 200.
      if (!isModelFile(path, bytes))
        throw new LoadError("network", `the host sent a ${path} that does not belong to a model`);
      return (await sha256(bytes)) !== expected;
    });
    return (await Promise.all(changed)).includes(true);
  };
}

type VersionOf = NonNullable<ModelSource["version"]>;

/**
 * The host's name for the version of the first existing file of `names`, by their addresses; undefined if it has none.
 */
function fileVersion(folder: string, names: readonly string[], ask: typeof fetch): VersionOf {
  return async (signal) => {
    for (const name of names) {
      const response = await ask(folder + name, { method: "HEAD", cache: "no-cache", signal });
      if (!response.ok || isPage(response)) continue;
      const headers = ["etag", "last-modified", "content-length"];
      const said = headers.map((header) => response.headers.get(header) ?? "");
      return said.join("") === "" ? undefined : said.join(" ");
    }
    return undefined;
  };
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

/** The version of a folder's float weights, or of its GGUF file. */
function floatsVersion({ url, file }: FolderRequest, request: LoadRequest): VersionOf {
  const wholes = ["model.safetensors", "pytorch_model.bin"]; // the same names as in convert/weight-files.ts
  const plain = ["weights.json", ...wholes.flatMap((name) => [name, `${name}.index.json`])];
  return fileVersion(url, file === undefined ? plain : [file], headersFetch(request, url));
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

function revalidationOf(source: ModelSource, request: LoadRequest): Revalidation | undefined {
  // A page's own fetch may return another model under the same address each time.
  if (request.fetchPort) return undefined;
  const isPersonal = request.headers.length > 0 || request.credentials !== undefined;
  const patience = { patienceMs: isPersonal ? longPatienceMs : patienceMs };
  const version = versionOf(source, request);
  if (version) return { hasChanged: versionHasChanged(version), version, ...patience };
  if (request.source.kind !== "folder") return undefined;
  const filesHaveChanged = folderHasChanged(
    new UrlSource(request.source.url, headersFetch(request, request.source.url)),
  );
  const floatsHaveChanged = versionHasChanged(floatsVersion(request.source, request));
  // Float weights are stored in converted form, with an index that their host does not have.
  const hasChanged: Revalidation["hasChanged"] = (record, signal) =>
    (record.weights ? floatsHaveChanged : filesHaveChanged)(record, signal);
  return { hasChanged, ...patience };
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
