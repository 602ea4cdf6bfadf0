// Tells the visitor once that the model continues a text and does not answer, when the text asks it something.
import type { EditorState, Extension } from "@codemirror/state";
import { englishAsks, phrase } from "../../language/editor.js";
import { keepTold } from "../../language/told.js";
import type { Notes } from "../../dom/notes.js";
import { asksModel, beginningsOf } from "./asks.js";
import { noteOnce } from "./note-once.js";

/** `back` runs when the visitor closes the note. */
export function questionNote(notes: Notes, back: () => void): Extension {
  let beginnings = /(?!)/;
  keepTold(questionNote, () => (beginnings = beginningsOf(`${englishAsks}|${phrase("asks")}`)));
  const asks = ({ doc, selection: { main } }: EditorState) => {
    const { from, text } = doc.lineAt(main.head);
    return asksModel(text.slice(0, main.head - from), beginnings);
  };
  return noteOnce(notes, "told-base", asks, () => phrase("writesOn"), back);
}
