// The status line, and the errors with a button that helps.
import { effect } from "@preact/signals-core";
import { hideKeepingFocus } from "../../dom/buttons.js";
import type { Elements } from "../../dom/elements.js";
import { setTranslatedText } from "../../language/keep-translated.js";
import { detailOf } from "../../language/why.js";
import { onChange, type PageState, type Problem } from "../../state/page-state.js";
import type { LateSpeech } from "./with-speech.js";

type ErrorElements = Pick<
  Elements,
  | "error"
  | "errorText"
  | "errorDetails"
  | "errorRepair"
  | "errorReset"
  | "loading"
  | "loadingCancel"
  | "generate"
>;

/** Shows or hides the error. If the focus was in it, it moves to the running work. */
function showProblem(ui: ErrorElements, problem: Problem | undefined): void {
  if (!problem) return hideKeepingFocus(ui.error, ui.loading.hidden ? ui.generate : ui.loadingCancel);
  const { sentence, repair, canReset, error } = problem;
  const detail = detailOf(error);
  setTranslatedText(ui.errorText, sentence);
  ui.errorDetails.hidden = detail === undefined;
  ui.errorDetails.open = false;
  ui.errorDetails.lastElementChild?.replaceChildren(detail ?? "");
  setTranslatedText(ui.errorRepair, repair?.label ?? (() => ""));
  ui.errorRepair.hidden = repair === undefined;
  // The second click of a double click was meant for the button's earlier action.
  ui.errorRepair.onclick = ({ detail }) => {
    if (detail < 2) repair?.run();
  };
  ui.errorReset.hidden = !canReset;
  ui.error.hidden = false;
}

export function showStatus(
  ui: ErrorElements & Pick<Elements, "finish">,
  state: PageState,
  speech: Pick<LateSpeech, "status">,
): void {
  let shown: (() => string) | undefined;
  // A sentence with the remaining time is shown again whenever that changes, but announced only once.
  effect(() => {
    const sentence = state.status.value;
    const said = sentence();
    const isNew = sentence !== shown && said !== ui.finish.textContent;
    shown = sentence;
    if (isNew) speech.status(said); // announced after the model's text
    setTranslatedText(ui.finish, sentence);
  });
  onChange(state.problem, (problem) => showProblem(ui, problem));
}
