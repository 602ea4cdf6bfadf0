// What of the page comes after its first paint: the editor, and what works on its text.
import { Branching } from "../branches/branching.js";
import { elements as ui } from "../elements.js";
import { lookingInside } from "../inside/opening.js";
import { offerKeys } from "../keys/sheet.js";
import { hasModel, needModel, onModelChange } from "../loading.js";
import { say } from "../messages.js";
import { options } from "../options.js";
import { offerViews } from "../seeing/chooser.js";
import { questionNote } from "../question/note.js";
import { offerSavingText } from "../save-text/offer.js";
import { seeing } from "../seeing/seeing.js";
import { livePicture } from "../settings/live-picture.js";
import { offerSharing } from "../share/sharing.js";
import { speakNow } from "../speech.js";
import { prefilling } from "../suggest/prefilling.js";
import { offerStage } from "../stage/stage.js";
import { suggesting } from "../suggest/suggesting.js";
import { atEnd, isWriting, sampling, showFailure, stopWriting, write } from "../writing.js";
import { Editor, type KeptText } from "./editor.js";
import { phrase } from "../language/editor.js";

/** `onChange` is called after each change of the text. */
export function createEditor(kept: KeptText, onChange: () => void): Editor {
  const idleModel = () => (hasModel() && !isWriting() ? needModel() : undefined);
  const editor = new Editor(kept, {
    parent: ui.editor,
    dock: ui.dock,
    label: ui.draft.ariaLabel ?? "",
    hint: ui.draft.placeholder,
    onUpdate: ({ docChanged }) => {
      if (docChanged) onChange();
    },
    extensions: [
      suggesting({
        dock: ui.dock,
        bar: ui.suggestionBar,
        sampling,
        needModel,
        say,
        speak: speakNow,
        fail: (error) => showFailure(error, 0, (why) => phrase("nothingSuggested", { why })),
      }),
      prefilling({ idleModel }),
      questionNote(() => editor.focus()),
      livePicture({ idleModel, onModelChange, peek: () => options.peek() }),
      seeing({
        panel: ui.token,
        idleModel,
        onModelChange,
        tell: (sentence) => (ui.scored.textContent = sentence),
        fail: (error) => showFailure(error, 0, (why) => phrase("notScored", { why })),
        branch: (from, token) => void branching.branch(from, token),
      }),
      lookingInside({
        root: ui.inside,
        idleModel,
        onModelChange,
        isWriting,
        fail: (error) => showFailure(error, 0, (why) => phrase("notInside", { why })),
      }),
    ],
  });
  Object.assign(ui.editor, { view: editor.view }); // for the console, and for tests
  const branching = new Branching(editor, ui.branches, ui.branchList, {
    stop: stopWriting,
    goOn: () => void write(atEnd),
  });
  offerViews(ui.viewAs, ui.legend, ui.scored, editor.view);
  offerKeys(ui.keys);
  offerStage({ enter: ui.stage, leave: ui.stageLeave, editor, isWriting });
  offerSavingText(() => ({ kept: editor.kept, tree: branching.all }));
  offerSharing(editor);
  return editor;
}
