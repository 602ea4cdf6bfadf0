// Which language a model writes, as far as that is known: what it wrote is marked with it, so that screen readers say it as it is
// said. What the visitor writes is not: it is theirs, and so are the voice and the spelling that they have set.
import type { TextLanguage } from "../document/kept-text.js";
import { addressOf } from "./chosen-model.js";
import type { ChosenModel } from "../state/page-state.js";

/** OpenAI's models and this site's demo were trained on English alone. */
const englishOnly =
  /^(models\/(demo|gpt2(-medium|-large|-xl)?(-q8|-q4|-f16|-f32)?)\/|hf:(openai-community\/)?(distil)?gpt2(-medium|-large|-xl)?)(@.*)?$/;

/** The language that a model writes. */
export const languageOf = (model: ChosenModel): TextLanguage =>
  englishOnly.test(addressOf(model)) ? "en" : "";
