// A note where the model ends the text at once: without it, a press of Write on would have no visible effect.
import type { Writing } from "../../assistant/writing.js";
import type { Editor } from "../../document/editor.js";
import { breakParagraph } from "../../document/run.js";
import type { Notes } from "../../dom/notes.js";
import { phrase } from "../../language/editor.js";
import { onChange, type PageState } from "../../state/page-state.js";

/** Offers to write on in a new paragraph at `place`, until the text changes. */
export function offerParagraph(
  notes: Notes,
  state: PageState,
  writing: Pick<Writing, "write" | "optionsBeside">,
  editor: Pick<Editor, "view" | "textBefore" | "focus">,
  place: number,
): void {
  const insert = /(^|\n\n)$/.test(editor.textBefore(place)) ? "" : "\n\n";
  const at = place + insert.length;
  const note = {
    sentence: () => phrase("endsHere"),
    label: () => phrase("newParagraph"),
    press: () => {
      editor.focus();
      const options = writing.optionsBeside();
      if (!options) return;
      editor.view.dispatch(breakParagraph(place, insert));
      void writing.write(() => ({ from: at, to: at, joins: insert !== "" }), { ...options, ignoreEos: true });
    },
  };
  notes.show(note);
  const end = onChange(state.text, () => {
    notes.hide(note);
    end();
  });
}
