// The model that downloads while another one writes. After a reload of the page the download resumes from the stored part.
import { folderModel } from "./chosen-model.js";
import { addressOf, isOfFiles } from "./model-address.js";
import type { ChosenModel } from "../state/page-state.js";
import { readStored, writeStored } from "../state/storage.js";

/** The key has the path, because other pages of the host share the storage. */
const key = `gpt2-coming ${location.pathname}`;

const written = (model: ChosenModel): string => {
  const { name, weights } = model;
  return JSON.stringify({ address: addressOf(model), name, weights });
};

/** Remembers that `model` is downloading. Local files cannot be remembered. */
export function rememberDownload(model: ChosenModel): void {
  if (!isOfFiles(model)) writeStored("sessionStorage", key, written(model));
}

/** Forgets `model`, whose download has ended. Another one may have started already. */
export function forgetDownload(model: ChosenModel): void {
  if (readStored("sessionStorage", key) === written(model)) writeStored("sessionStorage", key);
}

/** The model that was downloading when the page was reloaded. */
export function rememberedDownload(): ChosenModel | undefined {
  try {
    const kept = JSON.parse(readStored("sessionStorage", key) ?? "null") as unknown;
    const { address, name, weights } = Object(kept) as Record<string, unknown>;
    if (typeof address !== "string" || typeof name !== "string") return undefined;
    return { ...folderModel(address, weights === "q4" ? "q4" : null), name };
  } catch {
    return undefined; // the entry is damaged
  }
}
