// The page's entry point: creates its state and mounts the parts of the first paint. They load the demo model and
// continue the text.
import { atEnd, Writing } from "./assistant/writing.js";
import type { KeptText } from "./document/kept-text.js";
import { Surface } from "./document/surface.js";
import { listenForDrops } from "./dom/drops.js";
import { elements as ui } from "./dom/elements.js";
import { phrase } from "./language/start.js";
import { translatePage } from "./language/translate-page.js";
import { currentLanguage, loadTranslation } from "./language/translation.js";
import type { Tab } from "./library/tab.js";
import { keepTyped, readTyped } from "./library/typed.js";
import { bringFirstModel } from "./models/host.js";
import { Loading } from "./models/loading.js";
import { offerBar } from "./parts/bar/bar.js";
import { showLoading } from "./parts/loading/progress.js";
import { LateOptions } from "./parts/options/late-options.js";
import { LateSpeech } from "./parts/status/with-speech.js";
import { showStatus } from "./parts/status/status.js";
import { PageState, type ChosenModel } from "./state/page-state.js";

function begin(first: ChosenModel): void {
  const state = new PageState(first);
  let tab: Tab | undefined;
  const { words } = currentLanguage.peek();
  if (words) translatePage(words.page);
  delete document.documentElement.dataset.awaits;
  const speech = new LateSpeech(ui.spoken);
  showStatus(ui, state, speech);
  const options = new LateOptions();
  const surface: Surface = new Surface({
    field: ui.draft,
    parent: ui.editor,
    bring: async () => {
      const { createEditor } = await import("./after-paint.js");
      const page = { state, loading, writing, options, speech, tab: () => tab };
      return (kept, onChange) => createEditor(page, kept, onChange);
    },
    onChange: () => (state.text.value += 1),
  });
  /** What a page has read, or left when it was closed. */
  let typed = readTyped();
  surface.typeInField(typed);
  const keepEarly = (isClosed: boolean) => {
    const { typedInField } = surface;
    if (tab || typedInField === undefined) return;
    keepTyped(typedInField, isClosed); // the code that stores the text has not arrived
    if (isClosed) typed = typedInField;
  };
  addEventListener("pagehide", () => keepEarly(true));
  document.addEventListener("visibilitychange", () => {
    if (document.visibilityState === "hidden") keepEarly(false);
  });
  const loading = new Loading(state, () => surface.kept.text.slice(0, surface.kept.caret));
  const writing = new Writing({
    state,
    surface,
    needModel: loading.need,
    forgetModel: () => loading.forget(),
    readOptions: () => options.read(),
    voice: speech,
  });
  showLoading(ui, state, loading.cancel);
  /** Starts another text, and writes on at its end. The current one stays stored, and Undo brings it back. */
  const goOnWith = (kept: KeptText) => {
    void writing.write((editor) => {
      tab?.setAside();
      editor.showOther(kept);
      return atEnd(editor);
    });
  };
  const sayMissing = (error: unknown) => state.showError((why) => phrase("noPart", { why }), error);
  if (first.isOwn)
    import("./parts/first-visit/first-visit.js")
      .then(({ welcome }) => welcome({ ui, state, surface, goOnWith, speak: speech.notice }))
      .catch(() => undefined); // the page works without it
  const stored = import("./parts/library/keep.js")
    .then(({ keepTexts }) => {
      tab = keepTexts(ui, state, surface, options, writing);
      return tab.keep(typed);
    })
    .catch(sayMissing);
  surface.awaitStored(stored);
  offerBar({
    ui,
    state,
    surface,
    writing,
    beginWith: (text) => goOnWith({ text, caret: text.length, written: [] }),
  });
  const takeDrops = listenForDrops();
  requestAnimationFrame(() => {
    surface.need().catch(() => undefined); // parts that need the editor report the error
    import("./parts/chooser/chooser.js")
      .then(({ offerModels }) => offerModels(ui, state, loading, takeDrops))
      .catch(sayMissing);
  });
  ui.starting.hidden = true;
  if (first.elsewhere === undefined) void loading.need();
  else
    import("./parts/chooser/choice.js")
      .then(({ questionOfOtherHost, isAddressChosen }) =>
        isAddressChosen() ? void loading.need() : loading.awaitChoice(questionOfOtherHost(ui, first)),
      )
      .catch(sayMissing);
}

void loadTranslation().then(bringFirstModel).then(begin);
