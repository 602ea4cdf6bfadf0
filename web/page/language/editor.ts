// The phrases of what comes with the editor.
import { editor } from "./en.js";
import { phrasesOf, type Phrase } from "./phrases.js";

export const phrase: Phrase<"editor"> = phrasesOf("editor", editor);
