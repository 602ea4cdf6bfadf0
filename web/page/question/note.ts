// Says once, to who asks the model something, that it writes on and does not answer.
import { EditorView } from "@codemirror/view";
import type { Extension } from "@codemirror/state";
import { hide, onPress } from "../buttons.js";
import { elements as ui } from "../elements.js";
import { editor as english } from "../language/en.js";
import { phrase } from "../language/editor.js";
import { asksModel } from "./asks.js";

/** Of this page alone: others of the same host share the storage. */
const key = `gpt2-told-base ${location.pathname}`;

let isTold = false;

function wasTold(): boolean {
  try {
    return isTold || localStorage.getItem(key) !== null;
  } catch {
    return isTold; // there is no storage, as in a sandboxed frame: once a visit, then
  }
}

function remember(): void {
  isTold = true;
  try {
    localStorage.setItem(key, "1");
  } catch {
    // As above.
  }
}

/** Watches what the visitor types; what the model writes asks nobody. */
export function questionNote(back: () => void): Extension {
  onPress(ui.questionNoteClose, () => {
    hide(ui.questionNote, ui.generate);
    back();
  });
  return EditorView.updateListener.of(({ transactions, state }) => {
    if (!transactions.some((each) => each.isUserEvent("input.type") || each.isUserEvent("input.paste")))
      return;
    if (wasTold()) return;
    const beginnings = `${english.asks}|${phrase("asks")}`; // one writes English on a page of another language, too
    if (!asksModel(state.sliceDoc(0, state.selection.main.head), beginnings)) return;
    remember();
    ui.questionNote.hidden = false;
  });
}
