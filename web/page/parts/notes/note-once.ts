// A note on what the visitor writes, shown once and then never again.
import type { EditorState, Extension } from "@codemirror/state";
import { EditorView } from "@codemirror/view";
import { isTyped } from "../../document/run.js";
import { phrase } from "../../language/editor.js";
import { isKept, keep } from "../../state/kept-choice.js";
import type { Notes } from "../../dom/notes.js";

/**
 * Shows `sentence` as soon as what is typed or pasted `applies`; under `name` it is kept that it was. What the model writes is
 * not looked at.
 */
export function noteOnce(
  notes: Notes,
  name: string,
  applies: (state: EditorState) => boolean,
  sentence: () => string,
  back: () => void,
): Extension {
  return EditorView.updateListener.of(({ transactions, state }) => {
    if (!transactions.some(isTyped) || isKept(name) || !applies(state)) return;
    keep(name);
    notes.show({ sentence, label: () => phrase("understood"), press: back });
  });
}
