// The phrases of what comes with the editor.
import { editor } from "./en.js";
import { phrasesOf, type Phrase } from "./phrases.js";

/** How one asks in English, on a page of another language, too. */
export const englishAsks = editor.asks;

export const phrase: Phrase<"editor"> = phrasesOf("editor", editor);
