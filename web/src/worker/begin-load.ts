// Begins a load, with the tokenizer that the model has.
import type { LanguageTokenizer } from "../languages/index.js";
import { parseJson } from "../loader/parse-json.js";
import { Gpt2Error, LoadError } from "../shared/errors.js";
import type { Engine } from "./engine.js";
import type { TokenizerTexts } from "./model-files.js";

const importLanguages = () =>
  import("../languages/index.js").catch((error: unknown) => {
    throw new LoadError("network", `gpt2-languages.js cannot be loaded: ${String(error)}`);
  });

async function readTokenizer(files: Record<string, string>, config: string): Promise<LanguageTokenizer> {
  const { readLanguageTokenizer } = await importLanguages();
  const { vocab_size: size } = Object(parseJson(config, "config.json")) as { vocab_size?: unknown };
  return readLanguageTokenizer(files, typeof size === "number" ? size : 0);
}

/** A tokenizer that the engine does not compute is read by a module of its own, where that does. */
export async function beginLoad(
  engine: Engine,
  config: string,
  { vocab, merges, others }: TokenizerTexts,
  options: object,
): Promise<void> {
  try {
    engine.loadBegin(config, vocab, merges, { ...options, tokenizer: others });
    if (others?.["vocab.txt"] === undefined) return;
  } catch (error) {
    const isUnsupported = error instanceof Gpt2Error && error.code === "unsupported";
    if (!isUnsupported || others?.["tokenizer.json"] === undefined) throw error;
  }
  const tokenizer = await readTokenizer(others, config);
  engine.loadBegin(config, "", "", { ...options, tokenizer: { tokens: tokenizer.tokens } });
  engine.useTokenizer(tokenizer);
}
