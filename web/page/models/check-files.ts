// Whether files of this device are a model, before another one gives way to it: by their names and by how the small ones read. What
// is wrong with the weights is said as they load.
import { readFiles } from "../../src/client/local-files.js";
import { phrase } from "../language/models.js";

/** What a file begins with that is a GGUF file, as its specification has it. */
const ggufMagic = "GGUF";

/** What a file of weights can be called, whether this page reads it or says what to do with it. */
const weightsPattern = /^weights\.json$|\.(safetensors|bin|h5|msgpack)(\.|$)/i;

/** The model type in the text of `config`; undefined if it names none. Throws if the text is not a config. */
function kindIn(config: string): unknown {
  const fields: unknown = JSON.parse(config);
  if (typeof fields !== "object" || fields === null || Array.isArray(fields)) throw new TypeError();
  return (fields as Record<string, unknown>)["model_type"];
}

/** Rejects with what is wrong with `files`, where that can be told without reading their weights. */
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
