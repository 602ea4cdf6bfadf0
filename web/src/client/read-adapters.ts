// LoRA adapters, as callers give them.
import type { AdapterRequest, SourceRequest } from "../shared/protocol.js";
import { refuse, describeValue } from "../shared/refuse.js";
import { readOptions } from "../shared/arguments.js";
import { isFile, isHandle, filesOf, readAdapterFiles } from "./local-files.js";
import { readSource } from "./read-source.js";

type Weighed = { source: unknown; weight?: unknown };
const isWeighed = (value: unknown): value is Weighed =>
  typeof value === "object" && value !== null && "source" in value;

async function readAdapterSource(source: unknown, hub: unknown): Promise<SourceRequest> {
  if (typeof source === "object" && source !== null && !(source instanceof URL)) {
    return readAdapterFiles(isHandle(source) ? await filesOf(source) : source);
  }
  const found = await readSource(source, typeof source === "string" ? hub : undefined, "the adapter");
  return "file" in found
    ? refuse(`the adapter is ${describeValue(source)}, expected a folder with adapter_model.safetensors`)
    : found;
}

async function readAdapter(adapter: unknown, hub: unknown): Promise<AdapterRequest> {
  if (!isWeighed(adapter)) return { source: await readAdapterSource(adapter, hub), weight: 1 };
  const { source, weight = 1 } = readOptions("an adapter", adapter, ["source", "weight"]);
  if (typeof weight !== "number" || !Number.isFinite(weight)) {
    return refuse(`an adapter's weight is ${describeValue(weight)}, expected a number`);
  }
  return { source: await readAdapterSource(source, hub), weight };
}

/** The option `adapter` of loadModel: one adapter, or an array of them. An array of files is one adapter. */
export async function readAdapters(adapter: unknown, hub: unknown): Promise<AdapterRequest[]> {
  const list: unknown[] = Array.isArray(adapter) && !isFile(adapter[0]) ? adapter : [adapter];
  return Promise.all(list.map((one) => readAdapter(one, hub)));
}
