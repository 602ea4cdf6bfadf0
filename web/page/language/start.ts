// The phrases of what the first paint brings.
import { start } from "./en.js";
import { phrasesOf, type Phrase } from "./phrases.js";

export const phrase: Phrase<"start"> = phrasesOf("start", start);
