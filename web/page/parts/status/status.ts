// The status line, and the errors with a button that helps.
import { effect } from "@preact/signals-core";
import { hideKeepingFocus } from "../../dom/buttons.js";
import type { Elements } from "../../dom/elements.js";
import { setTranslatedText } from "../../language/keep-translated.js";
import { onChange, type PageState, type Problem } from "../../state/page-state.js";
import type { LateSpeech } from "./with-speech.js";

type ErrorElements = Pick<
  Elements,
  "error" | "errorText" | "errorRepair" | "errorReset" | "loading" | "loadingCancel" | "generate"
>;

function showProblem(ui: ErrorElements, { sentence, repair, canReset }: Problem, why = () => ""): void {
  setTranslatedText(ui.errorText, () => sentence(why()));
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
  onChange(state.problem, (problem) => {
    if (!problem) return hideKeepingFocus(ui.error, ui.loading.hidden ? ui.generate : ui.loadingCancel);
    const { error } = problem;
    if (error === undefined) return showProblem(ui, problem);
    import("./explain.js").then(
      ({ explain }) => state.problem.peek() === problem && explain(ui, problem, showProblem),
      () => showProblem(ui, problem, () => error as string),
    );
  });
}
