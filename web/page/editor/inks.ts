// What tells the visitor's text and the model's apart: two inks, and a mark where the model is writing.
import { Decoration, EditorView, ViewPlugin, WidgetType, type DecorationSet } from "@codemirror/view";
import type { Extension } from "@codemirror/state";
import { runField } from "./run.js";
import { pairsOf, writtenField } from "./written.js";

const modelsInk = Decoration.mark({ class: "models" });

/** Only of what is on the screen: a long text has ten thousands of tokens. */
function inksOf({ state, visibleRanges }: EditorView): DecorationSet {
  const written = state.field(writtenField);
  const marks = visibleRanges.flatMap(({ from, to }) =>
    pairsOf(written, from, to).map(([start, end]) =>
      modelsInk.range(Math.max(start, from), Math.min(end, to)),
    ),
  );
  return Decoration.set(
    marks.filter(({ from, to }) => from < to),
    true,
  );
}

const inks = ViewPlugin.define(
  (view) => {
    let decorations = inksOf(view);
    return {
      update(update) {
        const isSame = update.startState.field(writtenField) === update.state.field(writtenField);
        if (!isSame || update.viewportChanged) decorations = inksOf(update.view);
      },
      get decorations() {
        return decorations;
      },
    };
  },
  { decorations: (plugin) => plugin.decorations },
);

class Pen extends WidgetType {
  toDOM(): HTMLElement {
    const pen = document.createElement("span");
    pen.className = "pen";
    pen.ariaHidden = "true";
    return pen;
  }
}

const pen = Decoration.widget({ widget: new Pen(), side: 1 });

const pens = EditorView.decorations.compute([runField], (state) => {
  const run = state.field(runField);
  return run && run.stage !== "closed" ? Decoration.set(pen.range(run.to)) : Decoration.none;
});

export const twoInks: Extension = [inks, pens];
