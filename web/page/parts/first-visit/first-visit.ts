// What a first visitor reads while the demo model downloads: a text that this model wrote earlier, marked as an example.
// It never becomes part of the visitor's text, unless the visitor asks for that.
import { effect } from "@preact/signals-core";
import type { KeptText } from "../../document/kept-text.js";
import type { Surface } from "../../document/surface.js";
import { hideKeepingFocus, plainButton, setEnabled } from "../../dom/buttons.js";
import type { Elements } from "../../dom/elements.js";
import { make } from "../../dom/make.js";
import { phrase } from "../../language/welcome.js";
import { formatLeft } from "../../language/format.js";
import { setTranslatedText } from "../../language/keep-translated.js";
import type { PageState } from "../../state/page-state.js";
import { hasFlag, storeFlag } from "../../state/stored-flags.js";
import { prompt, text as continuation } from "./example.json";

/** A stored flag: this browser has loaded the page's own model before. */
const flag = "had-model";

/** Milliseconds after the start of the page. If the model is ready sooner, no example is shown. */
const patienceMs = 2000;

/** A download that takes less time is not announced. */
const announcedSeconds = 15;

export interface FirstVisitSetting {
  ui: Pick<Elements, "form" | "inside" | "draft" | "generate">;
  state: PageState;
  surface: Surface;
  /** Replaces the visitor's text, which stays stored, by another one, and writes on at its end. */
  goOnWith: (kept: KeptText) => void;
  /** Announces a sentence to screen readers. */
  speak: (sentence: string) => void;
}

function exampleText(): KeptText {
  const text = prompt + continuation;
  return { text, caret: text.length, written: [[prompt.length, text.length, "en"]] };
}

function makeExample(goOn: () => void) {
  const caption = make("figcaption", { className: "quiet" });
  setTranslatedText(caption, () => phrase("writtenEarlier"));
  const models = make("span", { className: "models" }, continuation);
  const text = make("blockquote", { lang: "en" }, prompt, models);
  const button = plainButton("", goOn);
  setTranslatedText(button, () => phrase("goOnWith"));
  return { figure: make("figure", { id: "example" }, caption, text, button), button };
}

/** Shows the example until the model has loaded and the visitor uses it, or until another model is chosen. */
function showExample({ ui, state, surface, goOnWith }: FirstVisitSetting): void {
  const { figure, button } = makeExample(() => {
    leave();
    goOnWith(exampleText());
  });
  ui.inside.after(figure);
  ui.form.classList.add("has-example");
  const leave = () => {
    hideKeepingFocus(figure, ui.generate);
    ui.form.classList.remove("has-example");
  };
  const end = effect(() => {
    const isWriting = state.isWriting;
    setEnabled(button, !isWriting);
    const isOther = state.chosen.value !== state.first;
    const hasModel = state.loaded.value !== undefined;
    // Reads the number of changes first, so that each change runs this effect again.
    const isUsed = () => isWriting || (state.text.value > 0 && surface.kept.text !== ui.draft.defaultValue);
    if (!figure.hidden && !isOther && !(hasModel && isUsed())) return;
    if (!figure.hidden) leave();
    queueMicrotask(() => end());
  });
}

/** Announces once how long the download takes, as soon as its speed is known. */
function announceTime({ state, speak }: FirstVisitSetting): void {
  const end = effect(() => {
    const { secondsLeft = null } = state.coming.value.latest ?? {};
    if (secondsLeft === null && !state.loaded.value) return;
    if (secondsLeft !== null && secondsLeft > announcedSeconds)
      speak(phrase("comesIn", { time: formatLeft(secondsLeft) }));
    queueMicrotask(() => end());
  });
}

/** Resolves after the page has been open for `patienceMs`. */
const waitPatiently = () => new Promise((resolve) => setTimeout(resolve, patienceMs - performance.now()));

/** Shows the example if this browser downloads the page's own model for the first time and needs long for it. */
export async function welcome(setting: FirstVisitSetting): Promise<void> {
  const { state } = setting;
  if (hasFlag(flag)) return;
  const end = state.loaded.subscribe((model) => {
    if (!model) return;
    storeFlag(flag);
    queueMicrotask(() => end());
  });
  if (location.hash !== "") return; // a link brings its own text
  announceTime(setting);
  await waitPatiently();
  if (!state.loaded.peek() && state.coming.peek().latest?.source !== "cache") showExample(setting);
}
