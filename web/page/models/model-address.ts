// The address of a model for `?model=`. chosen-model.ts reads such addresses.
import { baseAddress } from "../../src/shared/base-address.js";
import type { ChosenModel } from "../state/page-state.js";

/** `text` as an absolute address, or "". */
function hrefOf(text: string): string {
  try {
    return new URL(text, baseAddress()).href;
  } catch {
    return "";
  }
}

/** Its name in `?model=`: an id, or an address, relative to the page if that leads to the same place; "" for files. */
export function addressOf({ source }: ChosenModel): string {
  if (typeof source === "string") return source;
  if (!(source instanceof URL)) return "";
  const beside = new URL(".", baseAddress()).href;
  if (!source.href.startsWith(beside)) return source.href;
  const rest = source.href.slice(beside.length) || "./";
  return hrefOf(rest) === source.href ? rest : source.href; // a folder "http:a/" would be read as an address
}

/** Whether it is the demo model, which the page describes in its own words. */
export const isDemo = (model: ChosenModel): boolean => addressOf(model) === "models/demo/";

export const isOfFiles = (model: ChosenModel): boolean => addressOf(model) === "";

/** Whether both have the same address and format. Files have no address, so two models of files never compare equal. */
export function isSameModel(one: ChosenModel, other: ChosenModel): boolean {
  return !isOfFiles(one) && addressOf(one) === addressOf(other) && one.weights === other.weights;
}
