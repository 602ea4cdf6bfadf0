// The phrases of the view inside the model.
import { inside } from "./en.js";
import { phrasesOf, type Phrase } from "./phrases.js";

export const phrase: Phrase<"inside"> = phrasesOf("inside", inside);
