// Begins a load with the model's tokenizer.
import type { EngineTokenizer } from "../model/convert/index.js";
import { parseJson } from "../model/parse-json.js";
import { Gpt2Error, LoadError } from "../shared/errors.js";
import type { Engine } from "./engine.js";
import { sizeIn } from "./memory-plan.js";
import { sentencePieceFiles, type TokenizerTexts } from "../model/model-files.js";

async function importPart<T>(file: string, part: Promise<T>): Promise<T> {
  try {
    return await part;
  } catch (error) {
    throw new LoadError("network", `${file} cannot be loaded: ${String(error)}`);
  }
}

const vocabSizeOf = (config: string): number => sizeIn(parseJson(config, "config.json"), "vocab_size");

/**
 * Begins with the texts of the files. If there are more than vocab.json and merges.txt, the converter module reads them.
 */
async function beginWithFiles(
  engine: Engine,
  config: string,
  { vocab, merges, others }: TokenizerTexts,
  options: object,
): Promise<void> {
  const hasRules = others?.["tokenizer.json"] !== undefined || (others && vocab !== "");
  if (!hasRules) return engine.loadBegin(config, vocab, merges, options);
  engine.loadBegin(config, "", "", options); // throws if the configuration is invalid
  const { readTokenizer } = await importPart("gpt2-convert.js", import("../model/convert/index.js"));
  const files = { ...others, "vocab.json": vocab, "merges.txt": merges };
  const found: EngineTokenizer = await readTokenizer(files, vocabSizeOf(config));
  engine.loadBegin(config, found.vocab, found.merges, { ...options, tokenizer: { rules: found.rules } });
}

/** Files that only the module for other tokenizers reads. */
const otherFiles = ["vocab.txt", ...sentencePieceFiles];

/** If the engine does not support a tokenizer, a separate module reads it. */
export async function beginLoad(
  engine: Engine,
  config: string,
  texts: TokenizerTexts,
  options: object,
): Promise<void> {
  const { others } = texts;
  try {
    await beginWithFiles(engine, config, texts, options);
    if (!otherFiles.some((name) => others?.[name] !== undefined)) return;
  } catch (error) {
    const isUnsupported = error instanceof Gpt2Error && error.code === "unsupported";
    if (!isUnsupported || others?.["tokenizer.json"] === undefined) throw error;
  }
  if (!others) return;
  const languages = importPart("gpt2-languages.js", import("../model/convert/languages.js"));
  const tokenizer = await (await languages).readLanguageTokenizer(others, vocabSizeOf(config));
  engine.loadBegin(config, "", "", { ...options, tokenizer: { tokens: tokenizer.tokens } });
  engine.useTokenizer(tokenizer);
}
