// Mounts what comes after the first paint: the editor, and the parts that work on its text.
import { changedModel } from "./assistant/changed-model.js";
import { continueWith } from "./assistant/generate-with-fields.js";
import { prefilling } from "./assistant/prefilling.js";
import { RequestQueue } from "./assistant/request-queue.js";
import { samplingOf } from "./assistant/sampling.js";
import { atEnd, type Writing } from "./assistant/writing.js";
import { Editor } from "./document/editor.js";
import type { KeptText } from "./document/kept-text.js";
import { offerSearch } from "./document/find.js";
import { isTyped } from "./document/run.js";
import { onRunRemoved } from "./document/run-removed.js";
import { treeField } from "./document/steps.js";
import { keepAboveKeyboard } from "./dom/above-keyboard.js";
import { elements as ui } from "./dom/elements.js";
import { Notes } from "./dom/notes.js";
import { phrase } from "./language/editor.js";
import { keepTranslated } from "./language/keep-translated.js";
import type { Tab } from "./library/tab.js";
import { languageOf } from "./models/language.js";
import type { Loading } from "./models/loading.js";
import { offerAlternatives } from "./parts/bar/alternatives.js";
import { offerCopying } from "./parts/bar/copy.js";
import { offerMenu } from "./parts/bar/menu.js";
import { Branching } from "./parts/branches/branching.js";
import { offerDevice } from "./parts/device/offer.js";
import { offerLibrary } from "./parts/library/offer.js";
import { lookingInside } from "./parts/inside/opening.js";
import { offerKeys } from "./parts/keys/sheet.js";
import { offerLanguages } from "./parts/language/show.js";
import { livePicture } from "./parts/options/live-picture.js";
import type { LateOptions } from "./parts/options/late-options.js";
import { offerOptions } from "./parts/options/options.js";
import { offerSameSeed } from "./parts/options/same-seed.js";
import { offerDeviceModel } from "./parts/notes/device-model.js";
import { foreignNote } from "./parts/notes/foreign.js";
import { offerParagraph } from "./parts/notes/paragraph.js";
import { questionNote } from "./parts/notes/question.js";
import { offerPanel } from "./parts/panel/panel.js";
import { offerSaving } from "./parts/save-file/offer.js";
import { offerSavingText } from "./parts/save-text/offer.js";
import { offerSavingWithText } from "./parts/save-file/with-text.js";
import { offerSharing } from "./parts/share/sharing.js";
import { offerStage } from "./parts/stage/stage.js";
import { offerReadingAloud } from "./parts/status/read-aloud.js";
import type { LateSpeech } from "./parts/status/with-speech.js";
import { showChanged } from "./parts/status/changed.js";
import { showTitle } from "./parts/status/title.js";
import { showFacts, showModel } from "./parts/status/facts.js";
import { suggesting } from "./parts/suggestions/suggesting.js";
import { seeingContext } from "./parts/sees/opening.js";
import { scoringStatus } from "./parts/token/scoring-status.js";
import { seeing } from "./parts/token/seeing.js";
import { offerViews } from "./parts/token/views.js";
import { onChange, type PageState } from "./state/page-state.js";
import "./style/print.css";
import "./style/touch.css";

export interface Page {
  state: PageState;
  loading: Loading;
  writing: Writing;
  options: LateOptions;
  speech: LateSpeech;
  /** undefined if the module that stores the texts could not be fetched. */
  tab: () => Tab | undefined;
}

/** `changed` is called after each change of the text. */
export function createEditor(page: Page, kept: KeptText, changed: () => void): Editor {
  const { state, loading, writing, options, speech } = page;
  const current = changedModel(state);
  const needModel = async () => (await loading.need()) && current.peek();
  options.come(offerOptions(ui, state));
  writing.continueText = (model, text, call) => continueWith(model, text, state.fields.peek(), call);
  const say = (sentence?: () => string) => state.say(sentence);
  const isWriting = () => state.activity.peek().kind === "writing";
  const hasModel = () => state.loaded.peek() !== undefined;
  const queue = new RequestQueue(() => (hasModel() && !isWriting() ? needModel() : undefined));
  const onModelChange = (listener: () => void) => onChange(current, listener);
  const sampling = () => {
    const set = writing.optionsBeside();
    return set && samplingOf(set);
  };
  const fields = () => state.fields.peek();
  const goOn = () => void writing.write(atEnd);
  const noteChange = (units?: number) => page.tab()?.noteChange(units);
  state.chosen.subscribe((chosen) => (ui.spoken.lang = languageOf(chosen)));
  showFacts(ui, state);
  showChanged(ui, state);
  offerLanguages(ui, state);
  const modelsLanguage = () => languageOf(state.chosen.peek());
  const notes = new Notes(ui);
  const tab = page.tab();
  if (tab) offerDeviceModel(notes, ui, state, tab.wanted);
  const tell = scoringStatus(ui.scored);
  const focusText = () => editor.focus();
  writing.onNothingWritten = ({ to }) => offerParagraph(notes, state, writing, editor, to);
  const editor = new Editor(kept, {
    parent: ui.editor,
    edges: ui,
    modelsLanguage,
    fields: state.fields,
    onUpdate: ({ docChanged, startState, state: next, transactions }) => {
      if (transactions.some(isTyped)) branching.settle();
      const isOtherTree = startState.field(treeField) !== next.field(treeField);
      if (isOtherTree) branching.show();
      if (isOtherTree || docChanged) noteChange(Math.abs(next.doc.length - startState.doc.length));
      if (isOtherTree || docChanged) changed(); // both changes are steps to undo
    },
    onBegin: () => {
      speech.hush();
      branching.settle();
      branching.show();
      changed();
    },
    extensions: [
      onRunRemoved(speech.hush),
      suggesting({
        dock: ui.dock,
        bar: ui.suggestionBar,
        sampling,
        needModel,
        queue,
        fields,
        say,
        speak: speech.notice,
        fail: (error) => writing.showFailure(error, (why) => phrase("nothingSuggested", { why })),
      }),
      prefilling(queue, fields, () => state.change.peek().length > 0),
      questionNote(notes, focusText),
      foreignNote(notes, modelsLanguage, focusText),
      livePicture({ ui, queue, onModelChange, fields, peek: () => options.peek() }),
      seeing({
        panel: ui.token,
        dock: ui.dock,
        next: ui.generate,
        queue,
        hasModel,
        onModelChange,
        tell,
        fail: (error) => writing.showFailure(error, (why) => phrase("notScored", { why })),
        branch: (from, token) => void branching.branch(from, token),
      }),
      seeingContext({
        state,
        tab: ui.tabSees,
        text: ui.editor,
        queue,
        noteChange: () => noteChange(),
        tell,
      }),
      lookingInside({
        root: ui.inside,
        queue,
        change: state.change,
        onModelChange: (listener) => onChange(state.loaded, listener),
        isWriting,
        fail: (error) => writing.showFailure(error, (why) => phrase("notInside", { why })),
      }),
    ],
  });
  onChange(state.activity, ({ kind }) => {
    if (kind === "writing") queue.putFirst();
    else branching.refresh();
  });
  keepTranslated(editor, () => editor.name(ui.draft.ariaLabel ?? "", ui.draft.placeholder));
  Object.assign(ui.editor, { view: editor.view }); // for the console, and for tests
  const branching = new Branching(editor, ui.branches, ui.branchList, notes, {
    stop: writing.stop,
    goOn,
    say,
  });
  offerViews(
    { tabs: { list: ui.tabs, panel: ui.surface }, legend: ui.legend, scored: ui.scored },
    editor.view,
    fields,
  );
  keepAboveKeyboard(ui.dock);
  offerKeys(ui.keys);
  offerStage({ enter: ui.stage, leave: ui.stageLeave, editor, goOn });
  offerSavingWithText(ui, state, () => page.tab()?.textToSave());
  offerSavingText(ui, () => ({
    kept: editor.kept,
    tree: branching.all,
    model: (writing.lastWritten?.model ?? state.chosen.peek()).name,
  }));
  offerSearch(ui.find, editor.view);
  offerCopying(ui, state, editor);
  offerAlternatives(ui, state, editor);
  offerSaving(ui, state);
  offerDevice(ui, state, () => showModel(ui, state));
  offerMenu(ui);
  offerPanel(ui, state);
  offerLibrary({ ui, state, writing, tab: page.tab, focusText });
  showTitle(state, tab?.name, (end) => editor.textBefore(Math.min(end, editor.length)));
  offerSharing({ ui, state, loading, writing, options, setAside: () => page.tab()?.setAside(), editor });
  ui.options.addEventListener("input", () => noteChange());
  offerSameSeed(ui.controls, state, writing);
  offerReadingAloud(ui.controls, speech);
  editor.type(kept);
  return editor;
}
