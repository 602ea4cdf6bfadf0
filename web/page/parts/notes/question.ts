// Tells the visitor once that the model continues a text and does not answer, when the text asks it something.
import type { EditorState, Extension } from "@codemirror/state";
import { englishAsks, phrase } from "../../language/editor.js";
import { keepTranslated } from "../../language/keep-translated.js";
import type { Notes } from "../../dom/notes.js";
import { isQuestionToModel, questionPattern } from "./question-to-model.js";
import { noteOnce } from "./note-once.js";

/** `back` runs when the visitor closes the note. */
export function questionNote(notes: Notes, back: () => void): Extension {
  let beginnings = /(?!)/;
  keepTranslated(questionNote, () => (beginnings = questionPattern(`${englishAsks}|${phrase("asks")}`)));
  const asks = ({ doc, selection: { main } }: EditorState) => {
    const { from, text } = doc.lineAt(main.head);
    return isQuestionToModel(text.slice(0, main.head - from), beginnings);
  };
  return noteOnce(notes, "told-base", asks, () => phrase("writesOn"), back);
}
