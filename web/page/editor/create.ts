// What of the page comes after its first paint: the editor, and what works on its text.
import { makeWay } from "../asking.js";
import { Branching } from "../branches/branching.js";
import { treeField } from "../branches/steps.js";
import { elements as ui } from "../elements.js";
import { lookingInside } from "../inside/opening.js";
import { offerKeys } from "../keys/sheet.js";
import { chosenModel, hasModel, needModel, onModelChange } from "../loading.js";
import { say } from "../messages.js";
import { languageOf } from "../models/language.js";
import { options } from "../options.js";
import { offerViews } from "../seeing/chooser.js";
import { questionNote } from "../question/note.js";
import { offerSavingText } from "../save-text/offer.js";
import { seeing } from "../seeing/seeing.js";
import { livePicture } from "../settings/live-picture.js";
import { offerSameSeed } from "../settings/same-seed.js";
import { offerSharing } from "../share/sharing.js";
import { speakNow } from "../speech.js";
import { prefilling } from "../suggest/prefilling.js";
import { offerStage } from "../stage/stage.js";
import { suggesting } from "../suggest/suggesting.js";
import { noteChange } from "../texts/tab.js";
import { atEnd, isWriting, onWriting, sampling, showFailure, stopWriting, write } from "../writing.js";
import { keepAboveKeyboard } from "./above-keyboard.js";
import { Editor, type KeptText } from "./editor.js";
import { phrase } from "../language/editor.js";
import { keepTold, put } from "../language/told.js";

/** `onChange` is called after each change of the text. */
export function createEditor(kept: KeptText, onChange: () => void): Editor {
  const modelsLanguage = () => languageOf(chosenModel());
  const speakIt = () => (ui.spoken.lang = modelsLanguage());
  onModelChange(speakIt);
  speakIt();
  const idleModel = () => (hasModel() && !isWriting() ? needModel() : undefined);
  const editor = new Editor(kept, {
    parent: ui.editor,
    dock: ui.dock,
    modelsLanguage,
    onUpdate: ({ docChanged, startState, state }) => {
      const isOtherTree = startState.field(treeField) !== state.field(treeField);
      if (isOtherTree) branching.show();
      if (isOtherTree || docChanged) noteChange(Math.abs(state.doc.length - startState.doc.length));
      if (isOtherTree || docChanged) onChange(); // either is a step to undo
    },
    extensions: [
      suggesting({
        dock: ui.dock,
        bar: ui.suggestionBar,
        sampling,
        needModel,
        makeWay,
        say,
        speak: speakNow,
        fail: (error) => showFailure(error, (why) => phrase("nothingSuggested", { why })),
      }),
      prefilling({ idleModel }),
      questionNote(() => editor.focus()),
      livePicture({ idleModel, onModelChange, peek: () => options.peek() }),
      seeing({
        panel: ui.token,
        idleModel,
        hasModel,
        onModelChange,
        tell: (sentence) => put(ui.scored, sentence),
        fail: (error) => showFailure(error, (why) => phrase("notScored", { why })),
        branch: (from, token) => void branching.branch(from, token),
      }),
      lookingInside({
        root: ui.inside,
        idleModel,
        onModelChange,
        isWriting,
        fail: (error) => showFailure(error, (why) => phrase("notInside", { why })),
      }),
    ],
  });
  onWriting(() => {
    if (isWriting()) makeWay();
  });
  keepTold(editor, () => editor.name(ui.draft.ariaLabel ?? "", ui.draft.placeholder));
  Object.assign(ui.editor, { view: editor.view }); // for the console, and for tests
  const branching = new Branching(editor, ui.branches, ui.branchList, {
    stop: stopWriting,
    goOn: () => void write(atEnd),
  });
  const tabs = { list: ui.tabs, text: ui.tabText, inside: ui.tabInside, panel: ui.surface };
  offerViews({ tabs, select: ui.viewAs, legend: ui.legend, scored: ui.scored }, editor.view);
  keepAboveKeyboard(ui.dock);
  offerKeys(ui.keys);
  offerStage({ enter: ui.stage, leave: ui.stageLeave, editor, goOn: () => void write(atEnd) });
  offerSavingText(() => ({ kept: editor.kept, tree: branching.all }));
  offerSharing(editor);
  ui.options.addEventListener("input", () => noteChange());
  offerSameSeed();
  return editor;
}
