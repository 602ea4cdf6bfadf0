// The phrases of the list of texts.
import { library } from "./en.js";
import { phrasesOf, type Phrase } from "./phrases.js";

export const phrase: Phrase<"library"> = phrasesOf("library", library);
