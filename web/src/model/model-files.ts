// The small files of a model's folder: which are required and which are optional.
import type { ModelSource } from "./sources/model-source.js";
import { listingOf, readOptionalBytes, readOptionalText, type IndexPromise } from "./sources/read-text.js";
import { LoadError } from "../shared/errors.js";

/** Whether a file may exist. A file that a complete index does not list is not requested. */
const mayBeThere = async (name: string, coming: IndexPromise) =>
  !(await coming)?.files || (await listingOf(coming, name)) !== undefined;

async function readListed(
  name: string,
  source: ModelSource,
  signal: AbortSignal,
  coming: IndexPromise,
): Promise<string | undefined> {
  if (!(await mayBeThere(name, coming))) return undefined;
  return readOptionalText(source, name, signal, coming);
}

export const readDefaults = (source: ModelSource, signal: AbortSignal, coming: IndexPromise) =>
  readListed("generation_config.json", source, signal, coming);

/** The files that describe a tokenizer. A tokenizer.json replaces all others. */
export interface TokenizerTexts {
  /** vocab.json and merges.txt; "" if missing. */
  vocab: string;
  merges: string;
  /** The other files by name; undefined: none. A binary file has one character per byte. */
  others?: Record<string, string> | undefined;
}

/** vocab.json and merges.txt, or neither. One of them alone would give wrong ids. */
async function readVocabulary(source: ModelSource, signal: AbortSignal, index: IndexPromise) {
  const names = ["vocab.json", "merges.txt"];
  const texts = await Promise.all(names.map((name) => readOptionalText(source, name, signal, index)));
  const empty = names[texts.indexOf("")];
  if (empty !== undefined) throw new LoadError("corrupt", `${empty} is empty`);
  const [vocab, merges] = texts;
  if ((vocab === undefined) !== (merges === undefined)) {
    const [there, missing] = vocab === undefined ? [names[1], names[0]] : names;
    throw new LoadError("not-found", `the model has ${there}, but no ${missing}: its tokenizer needs both`);
  }
  return { vocab: vocab ?? "", merges: merges ?? "" };
}

/** The possible names of a SentencePiece file. */
export const sentencePieceFiles = ["spiece.model", "tokenizer.model"] as const;

/** One character per byte. */
function charactersOf(bytes: Uint8Array): string {
  const portion = 0x8000; // limit for the arguments of one call
  let text = "";
  for (let at = 0; at < bytes.length; at += portion)
    text += String.fromCharCode(...bytes.subarray(at, at + portion));
  return text;
}

/** The SentencePiece file, in an object by its name; undefined if there is none. */
async function readSentencePiece(source: ModelSource, signal: AbortSignal, index: IndexPromise) {
  for (const name of sentencePieceFiles) {
    if (!(await mayBeThere(name, index))) continue;
    const bytes = await readOptionalBytes(source, name, signal, index);
    // The file begins with its first piece. A host that answers every request with a page fails this check.
    const isOne = bytes?.[0] === 0x0a || (await listingOf(index, name)) !== undefined;
    if (bytes && isOne) return { [name]: charactersOf(bytes) };
  }
  return undefined;
}

export async function readTokenizer(
  source: ModelSource,
  signal: AbortSignal,
  index: IndexPromise,
): Promise<TokenizerTexts> {
  const whole = "tokenizer.json";
  const text = await readListed(whole, source, signal, index);
  if (text === "") throw new LoadError("corrupt", `${whole} is empty`);
  if (text !== undefined) return { vocab: "", merges: "", others: { [whole]: text } };
  const names = ["tokenizer_config.json", "special_tokens_map.json", "added_tokens.json"];
  const [vocabulary, ...texts] = await Promise.all([
    readVocabulary(source, signal, index),
    ...names.map((name) => readListed(name, source, signal, index)),
  ]);
  const others = names.flatMap((name, i) => (texts[i] === undefined ? [] : [[name, texts[i]] as const]));
  if (vocabulary.vocab === "") {
    const bert = "vocab.txt";
    const lines = await readListed(bert, source, signal, index);
    const files = lines === undefined ? await readSentencePiece(source, signal, index) : { [bert]: lines };
    others.push(...Object.entries(files ?? {}));
  }
  return { ...vocabulary, others: others.length > 0 ? Object.fromEntries(others) : undefined };
}
