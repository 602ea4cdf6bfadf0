// Copies the text. Mounted with the editor.
import type { Editor } from "../../document/editor.js";
import { onPress } from "../../dom/buttons.js";
import type { Elements } from "../../dom/elements.js";
import { phrase } from "../../language/editor.js";
import type { PageState } from "../../state/page-state.js";

async function copy(state: PageState, editor: Pick<Editor, "text" | "selectAll">): Promise<void> {
  try {
    await navigator.clipboard.writeText(editor.text);
    state.say(() => phrase("copied"));
  } catch {
    // Pages without TLS have no clipboard, and a browser can refuse it.
    editor.selectAll();
    state.say(() => phrase("copyYourself"));
  }
}

export const offerCopying = (
  ui: Pick<Elements, "copy">,
  state: PageState,
  editor: Pick<Editor, "text" | "selectAll">,
): void => onPress(ui.copy, () => void copy(state, editor));
