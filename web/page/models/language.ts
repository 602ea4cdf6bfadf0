// Which language a model writes, if that is known. Its text is marked with that language, so that screen readers
// pronounce it correctly. The visitor's text is not marked: the visitor has chosen its voice and spelling.
import type { TextLanguage } from "../document/kept-text.js";
import { addressOf } from "./model-address.js";
import type { ChosenModel } from "../state/page-state.js";

/** OpenAI's models and this site's demo were trained on English alone. */
const englishOnly =
  /^(models\/(demo|gpt2(-medium|-large|-xl)?(-q8|-q4|-f16|-f32)?)\/|hf:(openai-community\/)?(distil)?gpt2(-medium|-large|-xl)?)(@.*)?$/;

/** The language that a model writes. */
export const languageOf = (model: ChosenModel): TextLanguage =>
  englishOnly.test(addressOf(model)) ? "en" : "";
