// The phrases for the choice of a model, and for a model that is loading.
import { models } from "./en.js";
import { phrasesOf, type Phrase } from "./phrases.js";

export const phrase: Phrase<"models"> = phrasesOf("models", models);
