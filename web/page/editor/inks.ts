// What tells the visitor's text and the model's apart: two inks, and a mark where the model is writing.
import { Decoration, EditorView, ViewPlugin, WidgetType, type DecorationSet } from "@codemirror/view";
import type { Extension } from "@codemirror/state";
import { runField } from "./run.js";
import { pairsOf, writtenField } from "./written.js";

/** Only of what is on the screen: a long text has ten thousands of tokens. */
function inksOf({ state, visibleRanges }: EditorView, lang: string): DecorationSet {
  const modelsInk = Decoration.mark({ class: "models", ...(lang && { attributes: { lang } }) });
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

const inks = (language: () => string) =>
  ViewPlugin.define(
    (view) => {
      let lang = language();
      let decorations = inksOf(view, lang);
      return {
        update(update) {
          const isSame =
            update.startState.field(writtenField) === update.state.field(writtenField) && language() === lang;
          lang = language();
          if (!isSame || update.viewportChanged) decorations = inksOf(update.view, lang);
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

/** `language` gives that of the model's text, which is read in it; "" where that is not known. */
export const twoInks = (language: () => string): Extension => [inks(language), pens];
