// The line of status, the errors with a way on, and what is known of the model and its speed.
import { effect } from "@preact/signals-core";
import { hide } from "../../dom/buttons.js";
import { elements as ui } from "../../dom/elements.js";
import { formatMs, formatRate } from "../../language/format.js";
import { formatBytes, formatLarge } from "../../language/numbers.js";
import { phrase } from "../../language/start.js";
import { keepTold, put } from "../../language/told.js";
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

/** What is known of the model; it can change while it works, as when a thread is lost. */
export function showModel({ loaded }: PageState): void {
  const model = loaded.peek();
  if (!model) return;
  const { info } = model;
  ui.engine.textContent = phrase("engine", { variant: info.variant, count: info.threads });
  const count = phrase("count", { value: formatLarge(info.parameters) });
  ui.model.textContent = phrase("model", { count, weights: info.weights });
  ui.memory.textContent = formatBytes(info.memoryBytes);
  const unstored = info.notStored && phrase("notStored", { why: info.notStored });
  const notices = [info.notice, unstored, ...info.warnings].filter((text) => text !== null);
  ui.notice.textContent = notices.join(" ");
  ui.notice.hidden = notices.length === 0;
}

export function showStatus(state: PageState): void {
  onChange(state.status, (sentence) => {
    const said = sentence();
    if (said !== ui.finish.textContent) aloud((speech) => speech.status(said)); // after what is written
    put(ui.finish, sentence);
  });
  onChange(state.problem, showProblem);
  keepTold(ui.model, () => showModel(state));
  effect(() => {
    if (state.loaded.value && !state.isWriting) showModel(state);
  });
  onChange(state.tokensPerSecond, (rate) =>
    put(ui.speed, () => (rate === undefined ? "" : formatRate(rate))),
  );
  onChange(state.firstTokenMs, (ms) => put(ui.firstToken, () => (ms === undefined ? "" : formatMs(ms))));
}
