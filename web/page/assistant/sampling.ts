// Selects the options that control how tokens are chosen, without those that end a text.
import type { GenerateOptions } from "../../src/client/index.js";
import { numberOptionNames } from "../../src/shared/generate-options.js";

/** The sampling options among `options`. */
export function samplingOf(options: GenerateOptions): GenerateOptions {
  const names = numberOptionNames.filter((name) => name !== "maxNewTokens" && options[name] !== undefined);
  return Object.fromEntries(names.map((name) => [name, options[name]]));
}
