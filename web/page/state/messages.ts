// What the page says: one line of status below the text, and errors with a way on.
import { aloud } from "./aloud.js";
import { hide } from "../dom/buttons.js";
import { elements as ui } from "../dom/elements.js";
import { put } from "../language/told.js";

/** What a button in the error does about it. */
export interface Repair {
  label: () => string;
  run: () => void;
}

/** Says how the writing goes, to those who hear the page after what is written; without a sentence: nothing. */
export function say(sentence = () => ""): void {
  const said = sentence();
  if (said !== ui.finish.textContent) aloud((speech) => speech.status(said));
  put(ui.finish, sentence);
}

/** Shows an error; `canReset` offers the page without the settings in its address. */
export function showError(sentence: () => string, repair?: Repair, { canReset = false } = {}): void {
  put(ui.errorText, sentence);
  put(ui.errorRepair, repair?.label ?? (() => ""));
  ui.errorRepair.hidden = repair === undefined;
  // The second click of two is meant for what was there before.
  ui.errorRepair.onclick = ({ detail }) => {
    if (detail < 2) repair?.run();
  };
  ui.errorReset.hidden = !canReset;
  ui.error.hidden = false;
}

/** Takes the error away; the focus goes to `next` if it was there. */
export function hideError(next: HTMLElement): void {
  hide(ui.error, next);
}
