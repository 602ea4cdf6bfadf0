// Tells the visitor once that the model writes English only, when the text is in another language.
import type { EditorState, Extension } from "@codemirror/state";
import { phrase } from "../../language/editor.js";
import { isForeign } from "../../language/foreign.js";
import type { TextLanguage } from "../../document/kept-text.js";
import type { Notes } from "../../dom/notes.js";
import { noteOnce } from "./note-once.js";

/** UTF-16 code units before the caret to examine. Earlier text may be a quotation, or in another language. */
const mostUnits = 600;

/** `modelsLanguage` returns the model's language, if known. `back` runs when the visitor closes the note. */
export function foreignNote(notes: Notes, modelsLanguage: () => TextLanguage, back: () => void): Extension {
  const isOther = (state: EditorState) => {
    const { head } = state.selection.main;
    return modelsLanguage() === "en" && isForeign(state.sliceDoc(Math.max(0, head - mostUnits), head));
  };
  return noteOnce(notes, "told-language", isOther, () => phrase("englishOnly"), back);
}
