// Says in plain words why something failed, with the message in details. Fetched with the first such error.
import { make } from "../../dom/make.js";
import { phrase } from "../../language/causes.js";
import { detailOf, whyOf } from "../../language/why.js";
import type { Problem } from "../../state/page-state.js";
import type { ErrorElements } from "./status.js";

/** Calls `show`, and adds the details to its sentence. */
export function explain(
  ui: ErrorElements,
  problem: Problem,
  show: (ui: ErrorElements, problem: Problem, why: () => string) => void,
): void {
  show(ui, problem, () => whyOf(problem.error));
  const detail = detailOf(problem.error);
  if (detail === undefined) return;
  ui.errorText.append(make("details", {}, make("summary", {}, phrase("details")), detail));
}
