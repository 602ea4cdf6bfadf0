// The phrases about storing the texts.
import { texts } from "./en.js";
import { phrasesOf, type Phrase } from "./phrases.js";

export const phrase: Phrase<"texts"> = phrasesOf("texts", texts);
