// The line of status, and the errors with a way on.
import { hideKeepingFocus } from "../../dom/buttons.js";
import { elements as ui } from "../../dom/elements.js";
import { setTranslatedText } from "../../language/keep-translated.js";
import { onChange, type PageState, type Problem } from "../../state/page-state.js";
import { withSpeech } from "./with-speech.js";

/** Takes the error away; the focus goes to what is under way, if it was there. */
function showProblem(problem: Problem | undefined): void {
  if (!problem) return hideKeepingFocus(ui.error, ui.loading.hidden ? ui.generate : ui.loadingCancel);
  const { sentence, repair, canReset } = problem;
  setTranslatedText(ui.errorText, sentence);
  setTranslatedText(ui.errorRepair, repair?.label ?? (() => ""));
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
    if (said !== ui.finish.textContent) withSpeech((speech) => speech.status(said)); // after what is written
    setTranslatedText(ui.finish, sentence);
  });
  onChange(state.problem, showProblem);
}
