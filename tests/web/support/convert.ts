// Conversions in the module that converts, and the tiny models to convert.
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { bytesOf } from "../../../web/src/model/store/store.js";
import { ConvertedSource, type ConvertOptions } from "../../../web/src/model/convert/converted-source.js";
import { Converter, type Conversion } from "../../../web/src/model/convert/converter.js";
import type { ModelSource } from "../../../web/src/model/sources/model-source.js";
import type { ModuleFactory } from "../../../web/src/model/wasm-instance.js";
import { tiny } from "../../weights_tools/tool.js";
import { converterCode } from "./converter-code.js";
import { readSafetensors, type Tensor } from "./safetensors.js";

export const code = await WebAssembly.compile(converterCode);
export const createConverter = (start?: ModuleFactory) => Converter.create(code, start);
const { signal } = new AbortController();

export const hubFile = (model = "tied") => readFileSync(join(tiny, model, "model.safetensors"));
export const configOf = (model = "tied") => readFileSync(join(tiny, model, "config.json"), "utf8");

/** Type, shape and hash of each tensor, by name: the order differs. */
export const digests = (tensors: ReadonlyMap<string, Tensor>) =>
  [...tensors]
    .map(([name, { dtype, shape, bytes }]) =>
      [name, dtype, shape.join(), createHash("sha256").update(bytes).digest("hex")].join(" "),
    )
    .sort();

/** Chunks of up to `most` bytes, of sizes that look random and are the same each time. */
function* cut(bytes: Buffer, most: number): Generator<Buffer> {
  let state = 1;
  for (let at = 0; at < bytes.length;) {
    state = (state * 48271) % 2147483647;
    const end = at + 1 + (state % most);
    yield bytes.subarray(at, end);
    at = end;
  }
}

/** The output for a chunk. Each part is copied before it is overwritten. */
export const feed = (converter: Converter, chunk: Uint8Array) =>
  Array.from(converter.feed(chunk), (part) => part.slice());

/** Feeds `input` in chunks of up to `most` bytes to a new converter. */
export async function convert(input: Buffer, conversion: Conversion, most = 5000) {
  const converter = await createConverter();
  converter.begin(conversion);
  const parts: Uint8Array[] = [];
  for (const chunk of cut(input, most)) parts.push(...feed(converter, chunk));
  converter.end();
  const file = Buffer.concat(parts);
  const { folder } = converter;
  if (folder?.weightBytes !== file.length) throw new Error(`the file has ${file.length} bytes`);
  return { folder, file, tensors: readSafetensors(file) };
}

export const sourceOf = (inner: ModelSource, options: Partial<ConvertOptions> = {}) =>
  new ConvertedSource(inner, { weights: "q8", createConverter: () => createConverter(), ...options });

/** The converted weights from byte `from` on, as a load reads them. */
export async function readWeights(source: ModelSource, from = 0) {
  const { size = NaN, stream, made } = await source.open("model.safetensors", { signal, from });
  const bytes = Buffer.from(await bytesOf(stream));
  if (from + bytes.length !== size) throw new Error(`${from + bytes.length} bytes, expected ${size}`);
  return { size, made, bytes };
}
