// The phrases of a first visit.
import { welcome } from "./en.js";
import { phrasesOf, type Phrase } from "./phrases.js";

export const phrase: Phrase<"welcome"> = phrasesOf("welcome", welcome);
