// Explains what a model has in place of loadable weights, and what to do.
import type { ModelSource } from "./model-source.js";
import { LoadError } from "../../shared/errors.js";

const python = (load: string) =>
  `python3 -c 'from transformers import GPT2LMHeadModel as M; ${load}.save_pretrained("FOLDER")'`;

/** Files of other libraries: their names, and the argument with which transformers reads them. */
const others: readonly [RegExp, string][] = [
  [/^tf_model.*\.h5$/, ", from_tf=True"],
  [/^flax_model.*\.msgpack$/, ", from_flax=True"],
];

/** The message for a model without model.safetensors, from the names of its files; `missing` if they are unknown. */
export async function withoutWeights(
  source: ModelSource,
  missing: LoadError,
  signal: AbortSignal,
): Promise<LoadError> {
  const files = await source.list?.(signal);
  if (!files) return missing;
  const path = source.id?.replace(/@[^@]*$/, "").split("/"); // "hf:owner/name@revision", or with a hub's address
  const name = path?.slice(-2).join("/").replace(/^hf:/, "") ?? "FOLDER";
  for (const [pattern, argument] of others) {
    const found = files.find((file) => pattern.test(file));
    if (found === undefined) continue;
    const line = python(`M.from_pretrained("${name}"${argument})`);
    return new LoadError(
      "unsupported",
      `${name} has its weights only in ${found}, which a page cannot load safely. Convert them to model.safetensors with Python: ${line}`,
    );
  }
  const gguf = files.filter((file) => /\.gguf$/i.test(file));
  if (gguf.length === 0) return missing;
  return new LoadError(
    "not-found",
    `${name} has no model.safetensors, but ${gguf.join(", ")}: give the address of one of them`,
  );
}
