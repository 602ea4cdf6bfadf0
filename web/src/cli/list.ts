// `gpt2-wasm list FOLDER`: the models in a folder.
import { closeSync, existsSync, openSync, readFileSync, readSync, readdirSync, statSync } from "node:fs";
import { basename, join, relative } from "node:path";
import { headOf, headSize, lengthBytes } from "../model/convert/tensor-head.js";
import { parseWeightsIndex } from "../model/weights-index.js";
import { LoadError } from "../shared/errors.js";
import { formatBytes } from "../shared/format-bytes.js";
import type { Command } from "./command.js";
import { print } from "./messages.js";
import { folderNamed } from "./model-argument.js";

interface ListedModel {
  /** Relative to the listed folder. */
  path: string;
  /** "q8", "q4", "f16" or "f32" of a converted model; else the form of its files. */
  format: string;
  /** Of all files that a page downloads. */
  bytes: number;
  /** Known for converted models. */
  parameters?: number;
}

/** Weights as others publish them. */
const isOriginal = (name: string) => /\.safetensors$|^pytorch_model.*\.bin$/.test(name);

const sizeOf = (path: string) => statSync(path).size;

/** The header at the start of the file `path`. */
function readHead(path: string): Uint8Array {
  const file = openSync(path, "r");
  try {
    const length = Buffer.alloc(lengthBytes);
    readSync(file, length, 0, lengthBytes, 0);
    const head = Buffer.alloc(Math.min(headSize(length), sizeOf(path)));
    readSync(file, head, 0, head.length, 0);
    return headOf(head);
  } finally {
    closeSync(file);
  }
}

/** How many weights a converted file with the header `head` has. */
function parametersIn(head: Uint8Array): number {
  const facts = JSON.parse(new TextDecoder().decode(head.subarray(lengthBytes))) as Record<
    string,
    { shape?: number[] }
  >;
  const rowsOf = (name: string) => facts[name]?.shape?.[0] ?? 0;
  return Object.entries(facts).reduce((sum, [name, { shape = [] }]) => {
    if (name === "__metadata__" || name.endsWith("_scale")) return sum;
    // Codes of 4 bits have two columns in one, so the columns come from another tensor.
    const [, layer] = /^(h\.\d+)\.mlp\.c_proj\.weight$/.exec(name) ?? [];
    const inputs = rowsOf(layer === undefined ? "ln_f.weight" : `${layer}.mlp.c_fc.weight`);
    return sum + (shape[0] ?? 0) * (shape.length === 2 ? inputs : 1);
  }, 0);
}

/** The model in `folder`; undefined if there is none. */
function modelIn(folder: string): Omit<ListedModel, "path"> | undefined {
  const names = readdirSync(folder);
  if (!names.includes("config.json")) return undefined;
  if (!names.includes("weights.json")) {
    const weights = names.filter(isOriginal);
    const bytes = weights.reduce((sum, name) => sum + sizeOf(join(folder, name)), 0);
    return weights.length > 0 ? { format: "original", bytes } : undefined;
  }
  const { quantization_config: made } = Object(
    JSON.parse(readFileSync(join(folder, "config.json"), "utf8")),
  ) as { quantization_config?: { weights?: string } };
  const { size, pieces, files = [] } = parseWeightsIndex(readFileSync(join(folder, "weights.json"), "utf8"));
  const bytes = files.reduce((sum, file) => sum + file.size, size);
  const first = pieces[0] && join(folder, pieces[0].path);
  return {
    format: made?.weights ?? "original",
    bytes,
    ...(first !== undefined && existsSync(first) && { parameters: parametersIn(readHead(first)) }),
  };
}

/** The models in `folder`: itself, its folders, and its GGUF files. */
function modelsIn(folder: string): ListedModel[] {
  const entries = readdirSync(folder, { withFileTypes: true });
  const folders = entries.filter((entry) => entry.isDirectory()).map(({ name }) => join(folder, name));
  const found = [folder, ...folders].flatMap((each) => {
    const path = relative(folder, each) || basename(folder);
    try {
      const model = modelIn(each);
      return model ? [{ path, ...model }] : [];
    } catch (error) {
      if (!(error instanceof SyntaxError || error instanceof LoadError)) throw error;
      return [{ path, format: "damaged", bytes: 0 }];
    }
  });
  const gguf = entries.filter(({ name }) => /\.gguf$/i.test(name));
  return [
    ...found,
    ...gguf.map(({ name }) => ({ path: name, format: "gguf", bytes: sizeOf(join(folder, name)) })),
  ].sort((a, b) => (a.path < b.path ? -1 : 1));
}

export const list: Command = {
  name: "list",
  summary: "List the models in a folder, with their formats and sizes.",
  operands: [["[FOLDER]", "Folder to look into, and its folders [.]"]],
  options: { json: { help: "Print the list as JSON, with the number of parameters" } },
  async run([folder = "."], values) {
    const path = folderNamed(folder);
    const models = modelsIn(path);
    if (values.flag("json")) return print(`${JSON.stringify(models)}\n`);
    const width = Math.max(0, ...models.map(({ path }) => path.length));
    const rows = models.map(
      ({ path, format, bytes }) => `${path.padEnd(width)}  ${format.padEnd(8)}  ${formatBytes(bytes)}\n`,
    );
    return print(rows.join("") || `there is no model in ${path}\n`);
  },
};
