// A note about the visitor's text that is shown once and then never again.
import type { EditorState, Extension } from "@codemirror/state";
import { EditorView } from "@codemirror/view";
import { isTyped } from "../../document/run.js";
import { phrase } from "../../language/editor.js";
import { hasFlag, storeFlag } from "../../state/stored-flags.js";
import type { Notes } from "../../dom/notes.js";

/**
 * Shows `sentence` as soon as the text `applies` after the visitor types or pastes; the model's own writing never triggers it.
 * The browser keeps under `name` that the note was shown. `back` runs when the visitor closes it.
 */
export function noteOnce(
  notes: Notes,
  name: string,
  applies: (state: EditorState) => boolean,
  sentence: () => string,
  back: () => void,
): Extension {
  return EditorView.updateListener.of(({ transactions, state }) => {
    if (!transactions.some(isTyped) || hasFlag(name) || !applies(state)) return;
    storeFlag(name);
    notes.show({ sentence, label: () => phrase("understood"), press: back, isOnlyRead: true });
  });
}
