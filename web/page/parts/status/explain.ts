// Says in plain words why something failed, with the message in details. Fetched with the first such error.
import type { Elements } from "../../dom/elements.js";
import { make } from "../../dom/make.js";
import { phrase } from "../../language/causes.js";
import { detailOf, whyOf } from "../../language/why.js";
import type { Problem } from "../../state/page-state.js";

/** Calls `show`, and adds the details to its sentence. */
export function explain<Ui extends Pick<Elements, "errorText">>(
  ui: Ui,
  problem: Problem,
  show: (ui: Ui, problem: Problem, why: () => string) => void,
): void {
  show(ui, problem, () => whyOf(problem.error));
  const detail = detailOf(problem.error);
  if (detail === undefined) return;
  ui.errorText.append(make("details", {}, make("summary", {}, phrase("details")), detail));
}
