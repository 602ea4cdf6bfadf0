// The phrases that the first paint needs.
import { start } from "./en.js";
import { phrasesOf, type Phrase } from "./phrases.js";

export const phrase: Phrase<"start"> = phrasesOf("start", start);
