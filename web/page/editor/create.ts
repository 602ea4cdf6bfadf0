// What of the page comes after its first paint: the editor, and what works on its text.
import { elements as ui } from "../elements.js";
import { offerKeys } from "../keys/sheet.js";
import { needModel } from "../loading.js";
import { say } from "../messages.js";
import { speakNow } from "../speech.js";
import { suggesting } from "../suggest/suggesting.js";
import { sampling, showFailure } from "../writing.js";
import { Editor, type KeptText } from "./editor.js";

/** `onChange` is called after each change of the text. */
export function createEditor(kept: KeptText, onChange: () => void): Editor {
  offerKeys(ui.keys);
  return new Editor(kept, {
    parent: ui.editor,
    dock: ui.dock,
    label: "Text",
    hint: ui.draft.placeholder,
    onUpdate: ({ docChanged }) => {
      if (docChanged) onChange();
    },
    extensions: suggesting({
      dock: ui.dock,
      bar: ui.suggestionBar,
      sampling,
      needModel,
      say,
      speak: speakNow,
      fail: (error) => showFailure(error, 0),
    }),
  });
}
