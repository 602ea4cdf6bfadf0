// How much a model's host, or this device, may give where it is held whole: more is refused before it takes memory.
import { LoadError } from "../shared/errors.js";

const mebibyte = 1024 * 1024;

/** Those of GPT-2 are 1 MB; a vocabulary of a million tokens takes 50. */
const mostTokenizerBytes = 64 * mebibyte;
const tokenizerFiles = [
  "tokenizer.json",
  "vocab.json",
  "merges.txt",
  "vocab.txt",
  "spiece.model",
  "tokenizer.model",
];
/** Of a LoRA adapter's tensors: those of GPT-2 1.5B with an embedding and a head of their own, in float16, take 350. */
const mostAdapterBytes = 512 * mebibyte;
/** Of any other file that is read whole, a list of 10,000 pieces among them. */
const mostTextBytes = 16 * mebibyte;

/** Entries of one list of files or pieces: 80 GB in pieces as the tools write them. */
export const mostListed = 10_000;
/** Bytes of a piece of the weights; the tools write smaller ones. It is held whole while it is checked. */
export const largestPiece = 64 * mebibyte;
/** Bytes of what the cache notes of a model, which lists what its weights.json does. */
export const mostRecordBytes = mostTextBytes;
/** Files that a hub's weights may be in, and tensors in them all; a GPT-2 of 1024 layers has 12,292 (config_json.cc). */
export const mostShards = 1000;
export const mostTensors = 1 << 14;
/** Bytes of the headers of all these files together: no reader of safetensors takes a longer one. */
export const mostHeadBytes = 100_000_000;

/** Throws where `found` is more than `most`; `what` names the file and the field. */
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
