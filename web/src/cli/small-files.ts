// The files of a converted model beside its weights, chosen as gpt2-weights chooses them (weights_tools/FORMAT.md).
import type { ModelSource } from "../model/sources/model-source.js";
import { readOptionalBytes, readText } from "../model/sources/read-text.js";
import { LoadError } from "../shared/errors.js";
import { tokenizerSettings } from "../shared/file-names.mjs";
import { indented } from "./indented.js";

export interface SmallFile {
  name: string;
  bytes: Uint8Array;
}

/** The first of these that exists is the tokenizer, if there is neither tokenizer.json nor vocab.json. */
const otherTokenizers = ["vocab.txt", "spiece.model", "tokenizer.model"];
/** GPT-2's own, for a config.json that leaves it out. */
const usualVocabulary = 50257;

/** The tokenizer's files; none if the model has no tokenizer. */
async function readTokenizer(read: (name: string) => Promise<SmallFile[]>): Promise<SmallFile[]> {
  const whole = await read("tokenizer.json");
  if (whole[0]?.bytes.length === 0) throw new LoadError("corrupt", "tokenizer.json is empty, expected JSON");
  if (whole.length > 0) return whole;
  const files = [...(await read("vocab.json")), ...(await read("merges.txt"))];
  if (files.length === 1) {
    const [there, missing] =
      files[0]?.name === "vocab.json" ? ["vocab.json", "merges.txt"] : ["merges.txt", "vocab.json"];
    throw new LoadError("not-found", `the model has ${there}, but no ${missing}: its tokenizer needs both`);
  }
  for (const name of otherTokenizers) if (files.length === 0) files.push(...(await read(name)));
  if (files.length === 0) return [];
  for (const name of tokenizerSettings) files.push(...(await read(name)));
  return files.filter(({ bytes }) => bytes.length > 0);
}

/** Throws if no page could read the tokenizer. */
async function checkTokenizer(files: readonly SmallFile[], vocabSize: number): Promise<void> {
  const texts = Object.fromEntries(
    files.map(({ name, bytes }) => {
      const isText = !name.endsWith(".model"); // a binary file has one character per byte
      return [name, isText ? new TextDecoder().decode(bytes) : Buffer.from(bytes).toString("latin1")];
    }),
  );
  const isUsual = ["tokenizer.json", "vocab.json"].some((name) => name in texts);
  try {
    if (isUsual) {
      await (await import("../model/convert/index.js")).readTokenizer(texts, vocabSize);
      return;
    }
  } catch (error) {
    const isOther = error instanceof LoadError && error.code === "unsupported" && "tokenizer.json" in texts;
    if (!isOther) throw error;
  }
  await (await import("../model/convert/languages.js")).readLanguageTokenizer(texts, vocabSize);
}

/** `source` is converted while it is read. `isGguf`: the model is a GGUF file, which needs no other file. */
export async function readSmallFiles(
  source: ModelSource,
  isGguf: boolean,
  signal: AbortSignal,
): Promise<SmallFile[]> {
  const read = async (name: string): Promise<SmallFile[]> => {
    const bytes = await readOptionalBytes(source, name, signal);
    return bytes ? [{ name, bytes }] : [];
  };
  const config = indented(await readText(source, "config.json", signal));
  const { vocab_size: vocabSize = usualVocabulary } = JSON.parse(config) as { vocab_size?: unknown };
  const tokenizer = await readTokenizer(read);
  if (tokenizer.length > 0) await checkTokenizer(tokenizer, Number(vocabSize));
  const defaults = isGguf ? [] : await read("generation_config.json");
  const bytes = new TextEncoder().encode(`${config}\n`);
  return [{ name: "config.json", bytes }, ...tokenizer, ...defaults];
}
