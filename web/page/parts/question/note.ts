// Says once, to who asks the model something, that it writes on and does not answer.
import { EditorView } from "@codemirror/view";
import type { Extension } from "@codemirror/state";
import { hide, onPress } from "../../dom/buttons.js";
import { elements as ui } from "../../dom/elements.js";
import { isKept, keep } from "../../state/kept-choice.js";
import { englishAsks, phrase } from "../../language/editor.js";
import { keepTold, put } from "../../language/told.js";
import { asksModel, beginningsOf } from "./asks.js";

/** Under this name it is kept that it was told. */
const told = "told-base";

/** Watches what the visitor types; what the model writes asks nobody. */
export function questionNote(back: () => void): Extension {
  let beginnings = /(?!)/;
  keepTold(questionNote, () => (beginnings = beginningsOf(`${englishAsks}|${phrase("asks")}`)));
  onPress(ui.questionNoteClose, () => {
    put(ui.questionNoteText, () => "");
    hide(ui.questionNoteClose, ui.generate);
    back();
  });
  return EditorView.updateListener.of(({ transactions, state }) => {
    if (!transactions.some((each) => each.isUserEvent("input.type") || each.isUserEvent("input.paste")))
      return;
    if (isKept(told)) return;
    const { head } = state.selection.main;
    const { from, text } = state.doc.lineAt(head);
    if (!asksModel(text.slice(0, head - from), beginnings)) return;
    keep(told);
    put(ui.questionNoteText, () => phrase("writesOn"));
    ui.questionNoteClose.hidden = false;
  });
}
