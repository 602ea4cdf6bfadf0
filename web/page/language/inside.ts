// The phrases of what looks into the model.
import { inside } from "./en.js";
import { phrasesOf, type Phrase } from "./phrases.js";

export const phrase: Phrase<"inside"> = phrasesOf("inside", inside);
