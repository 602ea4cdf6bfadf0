// Detects changes that remove text of the model's last run.
import type { Extension } from "@codemirror/state";
import { EditorView, type ViewUpdate } from "@codemirror/view";
import { runField } from "./run.js";

/** Whether an update removes text of the last run: an edit, Undo, another alternative, branch or text. */
function removesRunText({ startState, changes }: ViewUpdate): boolean {
  const run = startState.field(runField);
  let isRemoved = false;
  changes.iterChangedRanges((from, to) => {
    isRemoved ||= run !== null && Math.max(from, run.from) < Math.min(to, run.to);
  });
  return isRemoved;
}

/** Calls `removed` after an update that removes or replaces text of the model's last run. */
export const onRunRemoved = (removed: () => void): Extension =>
  EditorView.updateListener.of((update) => {
    if (removesRunText(update)) removed();
  });
