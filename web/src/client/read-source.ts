// Reads a model's source, except the address of an ordinary folder.
import type { SourceRequest } from "../shared/protocol.js";
import { refuse, describeValue } from "../shared/refuse.js";
import { readAddress, readFolder } from "./folder-address.js";
import { idAtHub, isPlainId, readHubId } from "./hub-id.js";
import { filesOf, isHandle, readFiles } from "./local-files.js";

/** The argument `source` of loadModel; `hub` is the option, if given. `what` names the source in messages. */
export async function readSource(source: unknown, hub: unknown, what = "the model"): Promise<SourceRequest> {
  const refuseIt = (): never =>
    refuse(`${what} is ${describeValue(source)}, expected a folder's URL, an id on the hub, or files`);
  if (typeof source === "string" && source.trim() === "") return refuseIt(); // as a URL, it is the page itself
  if (typeof source === "string" && (hub !== undefined || /^hf:/i.test(source)))
    return readHubId(source, hub);
  if (hub !== undefined) return refuse(`hub needs a model's id, but the model is ${describeValue(source)}`);
  if (typeof source === "string" || source instanceof URL) {
    const url = readAddress(`${what}'s address`, source);
    const id = idAtHub(url);
    if (id !== undefined) return readHubId(id);
    const query = url.search !== "" && { query: url.search };
    const file = /[^/]+\.gguf$/i.exec(url.pathname)?.[0];
    if (file !== undefined) {
      const folder = new URL(".", url).href;
      return { kind: "folder", url: folder, file, ...query };
    }
    const folder = { kind: "folder" as const, url: readFolder(`${what}'s address`, source), ...query };
    return typeof source === "string" && isPlainId(source) ? { ...folder, orHub: readHubId(source) } : folder;
  }
  if (typeof source !== "object" || source === null) return refuseIt();
  return readFiles(isHandle(source) ? await filesOf(source) : source);
}
