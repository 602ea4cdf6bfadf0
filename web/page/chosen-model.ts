// The model that the page shows, or is to show next.
import type { ModelSource } from "../src/client/index.js";

export interface ChosenModel {
  /** What loadModel takes. */
  source: ModelSource;
  /** As its user knows it. */
  name: string;
  /** What a model of floats becomes; undefined: 8 bits. */
  weights?: "q4" | undefined;
  /** The folder on this host that it is, which can be saved as one file; undefined where it is something else. */
  folder?: string | undefined;
  /** The host that it would be fetched from, where that is not the page's own. */
  elsewhere?: string | undefined;
}

const hub = "huggingface.co";

/** Whether `text` is meant for an address, and no id. */
export const isAddress = (text: string): boolean => /^(\.{0,2}\/|[a-z][a-z0-9+.-]*:\/\/)/i.test(text);

/** A model of the hub by its id, with "hf:" or without; or by an address, of a folder or a GGUF file. */
export function namedModel(text: string, weights?: string | null): ChosenModel {
  const isFour = weights === "q4" && { weights: "q4" as const };
  if (!isAddress(text)) {
    const id = text.replace(/^hf:/i, "");
    return { source: `hf:${id}`, name: id, elsewhere: hub, ...isFour };
  }
  let url: URL;
  try {
    url = new URL(text, document.baseURI);
  } catch {
    return { source: text, name: text }; // loadModel says what is wrong with it
  }
  const name = url.pathname.replace(/\/$/, "").replace(/^.*\//, "") || url.host;
  const where = url.origin === location.origin ? { folder: text } : { elsewhere: url.host };
  return { source: url, name, ...where, ...isFour };
}

/** A folder of this host, relative to the page. */
export function folderModel(path: string, weights?: string | null): ChosenModel {
  if (/^[a-z][a-z0-9+.-]*:/i.test(path)) return namedModel(path, weights);
  const folder = /\.gguf$/i.test(path) ? path : path.replace(/\/*$/, "/"); // no id
  const name = folder.replace(/\/$/, "").replace(/^.*\//, "");
  return { source: folder, name, folder, ...(weights === "q4" && { weights: "q4" as const }) };
}

/** Files of this device. */
export function filesModel(files: readonly File[], weights?: string | null): ChosenModel {
  const [first] = files;
  const name = first?.webkitRelativePath.split("/")[0] || first?.name || "files";
  return { source: [...files], name, ...(weights === "q4" && { weights: "q4" as const }) };
}

/** What names it in an address; "" for files. */
export const addressOf = ({ source }: ChosenModel): string =>
  typeof source === "string" ? source : source instanceof URL ? source.href : "";

export const isOfFiles = (model: ChosenModel): boolean => addressOf(model) === "";

/** Whether both are the same, as far as their addresses tell: nobody knows of files. */
export function isSameModel(one: ChosenModel, other: ChosenModel): boolean {
  const hrefOf = (model: ChosenModel) => new URL(addressOf(model), document.baseURI).href;
  const haveAddresses = addressOf(one) !== "" && addressOf(other) !== "";
  return haveAddresses && hrefOf(one) === hrefOf(other) && one.weights === other.weights;
}

/** The part of the page's address that brings the model back; "" for files. */
export function queryOf(model: ChosenModel): string {
  const address = addressOf(model).replace(/[^\w./:@-]/g, encodeURIComponent);
  return address && `?model=${address}${model.weights ? `&weights=${model.weights}` : ""}`;
}
