// The parts of the page that load after its first paint: the editor, and what works on its text.
import { makeWay } from "./assistant/asking.js";
import { Branching } from "./parts/branches/branching.js";
import { treeField } from "./document/steps.js";
import { elements as ui } from "./dom/elements.js";
import { lookingInside } from "./parts/inside/opening.js";
import { offerKeys } from "./parts/keys/sheet.js";
import { chosenModel, hasModel, needModel, onModelChange } from "./models/loading.js";
import { say } from "./state/messages.js";
import { languageOf } from "./models/language.js";
import { options } from "./parts/options/options.js";
import { offerViews } from "./parts/token/views.js";
import { foreignNote } from "./parts/notes/foreign.js";
import { questionNote } from "./parts/notes/question.js";
import { offerSavingWithText } from "./parts/save-file/with-text.js";
import { offerSavingText } from "./parts/save-text/offer.js";
import { seeing } from "./parts/token/seeing.js";
import { livePicture } from "./parts/options/live-picture.js";
import { offerReadingAloud } from "./parts/options/read-aloud.js";
import { offerSameSeed } from "./parts/options/same-seed.js";
import { offerSharing } from "./parts/share/sharing.js";
import { Notes } from "./state/notes.js";
import { speech } from "./state/speech.js";
import { prefilling } from "./assistant/prefilling.js";
import { offerStage } from "./parts/stage/stage.js";
import { suggesting } from "./parts/suggestions/suggesting.js";
import { noteChange, textToSave } from "./library/tab.js";
import {
  atEnd,
  isWriting,
  onWriting,
  sampling,
  showFailure,
  stopWriting,
  write,
} from "./assistant/writing.js";
import { keepAboveKeyboard } from "./dom/above-keyboard.js";
import { Editor } from "./document/editor.js";
import type { KeptText } from "./document/kept-text.js";
import { isTyped } from "./document/run.js";
import { phrase } from "./language/editor.js";
import { keepTold, put } from "./language/told.js";

/** `onChange` is called after each change of the text. */
export function createEditor(kept: KeptText, onChange: () => void): Editor {
  const modelsLanguage = () => languageOf(chosenModel());
  const speakIt = () => (ui.spoken.lang = modelsLanguage());
  onModelChange(speakIt);
  speakIt();
  const idleModel = () => (hasModel() && !isWriting() ? needModel() : undefined);
  const notes = new Notes({ text: ui.noteText, button: ui.noteButton, next: ui.generate });
  const focusText = () => editor.focus();
  const editor = new Editor(kept, {
    parent: ui.editor,
    dock: ui.dock,
    modelsLanguage,
    onUpdate: ({ docChanged, startState, state, transactions }) => {
      const isOtherTree = startState.field(treeField) !== state.field(treeField);
      if (isOtherTree) branching.show();
      if (transactions.some(isTyped)) branching.settle();
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
        speak: (sentence) => speech.notice(sentence),
        fail: (error) => showFailure(error, (why) => phrase("nothingSuggested", { why })),
      }),
      prefilling({ idleModel }),
      questionNote(notes, focusText),
      foreignNote(notes, modelsLanguage, focusText),
      livePicture({ idleModel, onModelChange, peek: () => options.peek() }),
      seeing({
        panel: ui.token,
        dock: ui.dock,
        next: ui.generate,
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
  const branching = new Branching(editor, ui.branches, ui.branchList, notes, {
    stop: stopWriting,
    goOn: () => void write(atEnd),
  });
  const tabs = { list: ui.tabs, text: ui.tabText, inside: ui.tabInside, panel: ui.surface };
  offerViews({ tabs, select: ui.viewAs, legend: ui.legend, scored: ui.scored }, editor.view);
  keepAboveKeyboard(ui.dock);
  offerKeys(ui.keys);
  offerStage({ enter: ui.stage, leave: ui.stageLeave, editor, goOn: () => void write(atEnd) });
  offerSavingText(() => ({ kept: editor.kept, tree: branching.all }));
  offerSavingWithText(textToSave);
  offerSharing(editor);
  ui.options.addEventListener("input", () => noteChange());
  offerSameSeed();
  offerReadingAloud();
  return editor;
}
