// What is stored of a model of this device's files: a page cannot open the files again by itself.
import type { ChosenModel, DeviceModel } from "../state/page-state.js";
import { isOfFiles } from "./model-address.js";

/** undefined if the model has an address. */
export function deviceModelOf(model: ChosenModel): DeviceModel | undefined {
  if (!isOfFiles(model)) return undefined;
  const { name, source } = model;
  return { name, isFile: Array.isArray(source) && source.some((file: File) => file.name === name) };
}

/** What a text was stored with; undefined if that is no such model. */
export function parseDeviceModel(value: unknown): DeviceModel | undefined {
  const { name, isFile } = Object(value) as Record<string, unknown>;
  return typeof name === "string" ? { name, isFile: isFile === true } : undefined;
}
