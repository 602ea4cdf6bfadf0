// What a first visitor reads while the demo model downloads: a text that this model wrote earlier, marked as an example.
// It never becomes part of the visitor's text, unless the visitor asks for that.
import { effect } from "@preact/signals-core";
import type { KeptText } from "../../document/kept-text.js";
import type { Surface } from "../../document/surface.js";
import { hideKeepingFocus, plainButton, setEnabled } from "../../dom/buttons.js";
import { elements as ui } from "../../dom/elements.js";
import { phrase } from "../../language/welcome.js";
import { formatLeft } from "../../language/format.js";
import { setTranslatedText } from "../../language/keep-translated.js";
import type { PageState } from "../../state/page-state.js";
import { hasFlag, storeFlag } from "../../state/stored-flags.js";
import { prompt, text as continuation } from "./example.json";

/** The name under which the browser keeps that this page has had its model. */
const flag = "had-model";

/** A model that is ready sooner after the page was asked for needs no example. */
const patienceMs = 2000;

/** A download that ends sooner is not announced. */
const announcedSeconds = 15;

export interface FirstVisitSetting {
  state: PageState;
  surface: Surface;
  /** Puts a text in the place of the visitor's, which stays stored, and writes on at its end. */
  goOnWith: (kept: KeptText) => void;
  /** Announces a sentence to those who hear the page. */
  speak: (sentence: string) => void;
}

function exampleText(): KeptText {
  const text = prompt + continuation;
  return { text, caret: text.length, written: [[prompt.length, text.length, "en"]] };
}

function makeExample(goOn: () => void) {
  const caption = document.createElement("figcaption");
  caption.className = "quiet";
  setTranslatedText(caption, () => phrase("writtenEarlier"));
  const text = document.createElement("blockquote");
  text.lang = "en";
  const models = document.createElement("span");
  models.className = "models";
  models.textContent = continuation;
  text.append(prompt, models);
  const button = plainButton("", goOn);
  setTranslatedText(button, () => phrase("goOnWith"));
  const figure = document.createElement("figure");
  figure.id = "example";
  figure.append(caption, text, button);
  return { figure, button };
}

/** Shows the example until the visitor can do the same with their own text, and does. */
function showExample({ state, surface, goOnWith }: FirstVisitSetting): void {
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
    // The number of changes is read first, so that each of them runs this again.
    const isUsed = () => isWriting || (state.text.value > 0 && surface.kept.text !== ui.draft.defaultValue);
    if (!figure.hidden && !isOther && !(hasModel && isUsed())) return;
    if (!figure.hidden) leave();
    queueMicrotask(() => end());
  });
}

/** Announces once how long the download takes, as soon as its speed is known. */
function announceTime({ state, speak }: FirstVisitSetting): void {
  const end = effect(() => {
    const { secondsLeft = null } = state.loading.value?.latest ?? {};
    if (secondsLeft === null && !state.loaded.value) return;
    if (secondsLeft !== null && secondsLeft > announcedSeconds)
      speak(phrase("comesIn", { time: formatLeft(secondsLeft) }));
    queueMicrotask(() => end());
  });
}

/** Resolves after the page has been open for `patienceMs`. */
const waitPatiently = () => new Promise((resolve) => setTimeout(resolve, patienceMs - performance.now()));

/** Shows the example where the page's own model comes to this browser for the first time, and takes its time. */
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
  if (!state.loaded.peek() && state.loading.peek()?.latest?.source !== "cache") showExample(setting);
}
