// Says once, to who writes in another language than the model, that it knows its own alone.
import type { EditorState, Extension } from "@codemirror/state";
import { phrase } from "../../language/editor.js";
import { isForeign } from "../../language/foreign.js";
import type { TextLanguage } from "../../document/kept-text.js";
import type { Notes } from "../../dom/notes.js";
import { noteOnce } from "./note-once.js";

/** Of what stands before the caret: a text may have quotations in it, and another beginning. */
const mostLetters = 600;

/** `modelsLanguage` gives that of the model that writes, where it is known; `back` is called when the note has been read. */
export function foreignNote(notes: Notes, modelsLanguage: () => TextLanguage, back: () => void): Extension {
  const isOther = (state: EditorState) => {
    const { head } = state.selection.main;
    return modelsLanguage() === "en" && isForeign(state.sliceDoc(Math.max(0, head - mostLetters), head));
  };
  return noteOnce(notes, "told-language", isOther, () => phrase("englishOnly"), back);
}
