// gpt2-cache.js: keeps models on this device. The worker loads it beside a model's first files, a page when it asks what
// is kept.
import { headersFetch } from "../loader/headers-fetch.js";
import { UrlSource, type ModelSource } from "../loader/model-source.js";
import type { LoadRequest } from "../shared/protocol.js";
import { CachedSource, type Revalidation } from "./cached-source.js";
import { openStore } from "./open-store.js";
import { bytesOf, sha256 } from "./store.js";

export { keepModel, listModels, removeModel, storage } from "./models.js";

/** A host that is slower is not waited for where the model is stored. */
const patienceMs = 500;
/** Where what it gives may depend on who asks, it is. */
const longPatienceMs = 10_000;

/** Whether a folder's host has other files than those of a record. */
function folderHasChanged(folder: UrlSource): Revalidation["hasChanged"] {
  return async ({ files }, signal) => {
    // Before its version 2, weights.json says nothing of config.json.
    const asked = files.filter(({ path }) => ["weights.json", "config.json"].includes(path));
    const changed = asked.map(async ({ path, sha256: expected }) => {
      const { stream } = await folder.open(path, { signal, anew: true });
      return (await sha256(await bytesOf(stream))) !== expected;
    });
    return (await Promise.all(changed)).includes(true);
  };
}

function revalidationOf(source: ModelSource, request: LoadRequest): Revalidation | undefined {
  // A page's own fetch may give another model under the same address each time.
  if (request.fetchPort) return undefined;
  const isPersonal = request.headers.length > 0 || request.credentials !== undefined;
  const patience = { patienceMs: isPersonal ? longPatienceMs : patienceMs };
  const { version } = source;
  if (version) {
    const hasChanged: Revalidation["hasChanged"] = async (record, signal) => {
      const found = await version.call(source, signal);
      return found !== undefined && found !== record.version;
    };
    return { hasChanged, ...patience };
  }
  const { kind } = request.source;
  if (kind !== "folder") return undefined;
  return { hasChanged: folderHasChanged(new UrlSource(source.id ?? "", headersFetch(request))), ...patience };
}

/** `source`, of what `request` asks for, over the store; `source` itself where it is of this device. */
export async function cached(source: ModelSource, request: LoadRequest): Promise<ModelSource> {
  const { id } = source;
  if (id === undefined || !/^(https?|hf):/.test(id)) return source;
  const { store, refusal } = await openStore(true);
  if (store) return new CachedSource(store, source, id, revalidationOf(source, request));
  source.notStored = async () => refusal;
  return source;
}
