// The phrases of models that can be chosen, and of one that comes.
import { models } from "./en.js";
import { phrasesOf, type Phrase } from "./phrases.js";

export const phrase: Phrase<"models"> = phrasesOf("models", models);
