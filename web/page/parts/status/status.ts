// The line of status, and the errors with a way on.
import { hide } from "../../dom/buttons.js";
import { elements as ui } from "../../dom/elements.js";
import { put } from "../../language/told.js";
import { onChange, type PageState, type Problem } from "../../state/page-state.js";
import { aloud } from "./aloud.js";

/** Takes the error away; the focus goes to what is under way, if it was there. */
function showProblem(problem: Problem | undefined): void {
  if (!problem) return hide(ui.error, ui.loading.hidden ? ui.generate : ui.loadingCancel);
  const { sentence, repair, canReset } = problem;
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

export function showStatus(state: PageState): void {
  onChange(state.status, (sentence) => {
    const said = sentence();
    if (said !== ui.finish.textContent) aloud((speech) => speech.status(said)); // after what is written
    put(ui.finish, sentence);
  });
  onChange(state.problem, showProblem);
}
