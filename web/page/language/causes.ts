// The phrases that say why something failed.
import { causes } from "./en.js";
import { phrasesOf, type Phrase } from "./phrases.js";

export const phrase: Phrase<"causes"> = phrasesOf("causes", causes);
