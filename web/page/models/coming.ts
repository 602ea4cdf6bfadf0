// The model that downloads while another one writes. After a reload of the page the download resumes from the stored part.
import { addressOf, folderModel, isOfFiles } from "./chosen-model.js";
import type { ChosenModel } from "../state/page-state.js";

/** Of this page alone: others of the same host share the storage. */
const key = `gpt2-coming ${location.pathname}`;

const written = (model: ChosenModel): string => {
  const { name, weights } = model;
  return JSON.stringify({ address: addressOf(model), name, weights });
};

/** Keeps that `model` comes. Files of this device cannot be kept. */
export function keepComing(model: ChosenModel): void {
  if (isOfFiles(model)) return;
  try {
    sessionStorage.setItem(key, written(model));
  } catch {
    // There is no storage, as in a sandboxed frame.
  }
}

/** `model` has come, or will not; another one may be coming already. */
export function dropComing(model: ChosenModel): void {
  try {
    if (sessionStorage.getItem(key) === written(model)) sessionStorage.removeItem(key);
  } catch {
    // As above.
  }
}

/** The one that was coming when this page was loaded once more. */
export function keptComing(): ChosenModel | undefined {
  try {
    const kept = JSON.parse(sessionStorage.getItem(key) ?? "null") as unknown;
    const { address, name, weights } = Object(kept) as Record<string, unknown>;
    if (typeof address !== "string" || typeof name !== "string") return undefined;
    return { ...folderModel(address, weights === "q4" ? "q4" : null), name };
  } catch {
    return undefined; // as above, or what it has is damaged
  }
}
