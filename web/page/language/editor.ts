// The phrases of the editor, and of the parts that load with it.
import { editor } from "./en.js";
import { phrasesOf, type Phrase } from "./phrases.js";

/** The beginnings of English questions, also for a page in another language. */
export const englishAsks = editor.asks;

export const phrase: Phrase<"editor"> = phrasesOf("editor", editor);
