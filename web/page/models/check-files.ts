// Checks local files before they replace the current model, by their names and the contents of the small ones. Errors in
// the weights are reported while they load.
import { readFiles } from "../../src/client/local-files.js";
import { phrase } from "../language/models.js";

/** The start of a GGUF file, as in its specification. */
const ggufMagic = "GGUF";

/** Names of weights files that this page reads or explains how to convert. */
const weightsPattern = /^weights\.json$|\.(safetensors|bin|h5|msgpack)(\.|$)/i;

/** The model type in the text of `config`; undefined if it names none. Throws if the text is not a config. */
function kindIn(config: string): unknown {
  const fields: unknown = JSON.parse(config);
  if (typeof fields !== "object" || fields === null || Array.isArray(fields)) throw new TypeError();
  return (fields as Record<string, unknown>)["model_type"];
}

/** Rejects with what is wrong with `files`, as far as that is known without reading their weights. */
export async function checkFiles(files: readonly File[]): Promise<void> {
  const { files: named, file: gguf } = readFiles(files);
  const fileOf = (name: string) => named.find((each) => each.name === name)?.file;
  if (gguf !== undefined) {
    const begin = await fileOf(gguf)?.slice(0, ggufMagic.length).text();
    if (begin !== ggufMagic) throw new Error(phrase("noGguf", { name: gguf }));
    return;
  }
  const config = await fileOf("config.json")?.text();
  let kind: unknown;
  try {
    kind = kindIn(config ?? "");
  } catch {
    throw new Error(phrase("noConfig"));
  }
  if (typeof kind === "string" && kind !== "gpt2") throw new Error(phrase("otherFiles", { kind }));
  if (!named.some(({ name }) => weightsPattern.test(name))) throw new Error(phrase("noWeights"));
}
