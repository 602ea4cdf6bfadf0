// The tokenizers of other languages, for a module in one file. That file does not contain them, and loads
// gpt2-languages.js from its own folder. Replaces model/convert/languages.ts (web/scripts/one-file.mjs).
import { LoadError } from "../shared/errors.js";
import { importAsItIs } from "./import-as-it-is.js";

/** The address of the module, which client/inlined-worker.ts puts before this script. */
declare const gpt2Module: string;

export async function readLanguageTokenizer(
  ...args: Parameters<typeof import("../model/convert/languages.js").readLanguageTokenizer>
) {
  const address = new URL("gpt2-languages.js", gpt2Module).href;
  const languages = await importAsItIs(address).catch((error: unknown) => {
    const reason = error instanceof Error ? error.message : String(error);
    throw new LoadError(
      "network",
      `the model's tokenizer needs gpt2-languages.js, which cannot be loaded from ${address} (${reason}): put the file there`,
    );
  });
  return (languages as typeof import("../model/convert/languages.js")).readLanguageTokenizer(...args);
}
