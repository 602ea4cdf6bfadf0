// Which model is meant: by an id of the Hub, an address, or files of this device.
import { idAtHub, isHubId } from "../../src/client/hub-id.js";
import { baseAddress } from "../../src/shared/base-address.js";
import { usualHub } from "../../src/shared/protocol.js";
import { phrase } from "../language/models.js";
import type { ChosenModel } from "../state/page-state.js";
import { mayContact } from "./policy.js";

/** An id without the "hf:" that marks it as one. */
export const withoutHubPrefix = (text: string): string => text.replace(/^hf:/i, "");

/** A model of the Hub. loadModel reports a wrong id before it makes a request. */
export function hubModel(id: string): ChosenModel {
  const named = { source: `hf:${id}`, name: id };
  if (!isHubId(id)) return named;
  const { host } = new URL(usualHub);
  if (!mayContact(new URL(usualHub))) return { ...named, problem: () => phrase("forbiddenHost", { host }) };
  return { ...named, elsewhere: host };
}

/** The folder or GGUF file at `text`, relative to the page. Only the parsed origin decides whether it is another host's. */
export function modelAt(text: string): ChosenModel {
  let url: URL;
  try {
    url = new URL(text, baseAddress());
  } catch {
    return { source: text, name: text, problem: () => phrase("noAddress") };
  }
  if (!/^https?:$/.test(url.protocol) || url.username || url.password)
    return { source: url, name: text, problem: () => phrase("noAddress") };
  const id = idAtHub(url);
  if (id !== undefined) return hubModel(id);
  url.hash = "";
  if (!/\.gguf$/i.test(url.pathname)) url.pathname = url.pathname.replace(/\/*$/, "/");
  const { host } = url;
  const name = url.pathname.replace(/\/$/, "").replace(/^.*\//, "") || host;
  if (url.origin === location.origin) return { source: url, name, folder: url.href };
  if (!mayContact(url)) return { source: url, name, problem: () => phrase("forbiddenHost", { host }) };
  return { source: url, name, elsewhere: host };
}

export const withWeightFormat = (model: ChosenModel, weights?: string | null): ChosenModel =>
  weights === "q4" ? { ...model, weights: "q4" } : model;

/** The model in `?model=`: the address of a folder or file, or an id of the Hub with "hf:". */
export const folderModel = (text: string, weights?: string | null): ChosenModel =>
  withWeightFormat(/^hf:/i.test(text) ? hubModel(withoutHubPrefix(text)) : modelAt(text), weights);
