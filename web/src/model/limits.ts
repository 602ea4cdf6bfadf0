// Limits for data that is held in memory as a whole. Anything larger is refused before it takes memory.
import { LoadError } from "../shared/errors.js";
import { tokenizerFiles } from "../shared/file-names.mjs";

const mebibyte = 1024 * 1024;

/** GPT-2's files take 1 MB; a vocabulary of a million tokens takes 50. */
const mostTokenizerBytes = 64 * mebibyte;
/** For a LoRA adapter's tensors. Those of GPT-2 1.5B with its own embedding and head take 350 in float16. */
const mostAdapterBytes = 512 * mebibyte;
/** For any other file that is read as a whole, such as a list of 10,000 pieces. */
const mostTextBytes = 16 * mebibyte;

/** Entries in a list of files or pieces: enough for 80 GB in pieces of the tools' size. */
export const mostListed = 10_000;
/** Bytes of a piece of the weights, which is held in memory while it is verified. The tools write smaller ones. */
export const largestPiece = 64 * mebibyte;
/** Bytes of the cache's record of a model, which lists the same files as its weights.json. */
export const mostRecordBytes = mostTextBytes;
/**
 * Files that a Hub model's weights may be in, and tensors in all of them. A GPT-2 of 1024 layers has 12,292
 * (config_json.cc).
 */
export const mostShards = 1000;
export const mostTensors = 1 << 14;
/** Bytes of the headers of all these files together. No reader of safetensors accepts a longer header. */
export const mostHeadBytes = 100_000_000;

/** Throws if `found` is more than `most`; `what` names the file and the field. */
export function checkMost(what: string, found: number, most: number, unit: string): void {
  if (found <= most) return;
  throw new LoadError("corrupt", `${what}: found ${found} ${unit}, expected at most ${most}`);
}

/**
 * Throws if a file that is read as a whole is larger than its name allows. `found` may be the bytes that have arrived so
 * far.
 */
export function checkTextSize(name: string, found: number): void {
  const most = name === "adapter_model.safetensors" ? mostAdapterBytes : mostTextBytes;
  checkMost(name, found, tokenizerFiles.includes(name) ? mostTokenizerBytes : most, "bytes");
}
