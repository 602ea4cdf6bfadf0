// Models that the visitor names while the page is open: typed, picked from this device, or in a link.
import { isHub } from "../../src/client/hub-id.js";
import type { ChosenModel } from "../state/page-state.js";
import { hubModel, withWeightFormat, modelAt, withoutHubPrefix } from "./chosen-model.js";
import { addressOf } from "./model-address.js";

/** Whether `text`, as typed, is an address rather than an id. */
export const isAddress = (text: string): boolean => /^(\.{0,2}\/|[a-z][a-z0-9+.-]*:\/\/)/i.test(text);

/** Adds a scheme to `text`, as typed, if it starts with the Hub's host name. */
export const withScheme = (text: string): string =>
  isHub(text.replace(/\/.*$/s, "").toLowerCase()) ? `https://${text}` : text;

/** The model in a typed text: an id of the Hub, with or without "hf:", or an address. */
export function namedModel(text: string, weights?: string | null): ChosenModel {
  const name = withScheme(text);
  return withWeightFormat(isAddress(name) ? modelAt(name) : hubModel(withoutHubPrefix(name)), weights);
}

/** Files of this device. */
export function filesModel(files: readonly File[], weights?: string | null): ChosenModel {
  const [first] = files;
  const name = first?.webkitRelativePath.split("/")[0] || first?.name || "files";
  return withWeightFormat({ source: [...files], name }, weights);
}

/** The query of the page's address that loads the model again; "" for files. */
export function queryOf(model: ChosenModel): string {
  const address = addressOf(model).replace(/[^\w./:@-]/gu, encodeURIComponent);
  return address && `?model=${address}${model.weights ? `&weights=${model.weights}` : ""}`;
}
