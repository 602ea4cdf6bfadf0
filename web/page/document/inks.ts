// Two colours distinguish the visitor's text from the model's. A mark shows where the model is writing.
import { Decoration, EditorView, ViewPlugin, WidgetType, type DecorationSet } from "@codemirror/view";
import type { Extension } from "@codemirror/state";
import type { TextLanguage } from "./kept-text.js";
import { make } from "../dom/make.js";
import { runField } from "./run.js";
import { partsOf, writtenField } from "./written.js";

const inks: Readonly<Record<TextLanguage, Decoration>> = {
  "": Decoration.mark({ class: "models" }),
  en: Decoration.mark({ class: "models", attributes: { lang: "en" } }),
};

/** Only for the visible ranges: a long text has tens of thousands of tokens. */
export function inksOf({ state, visibleRanges }: Pick<EditorView, "state" | "visibleRanges">): DecorationSet {
  const written = state.field(writtenField);
  const marks = visibleRanges.flatMap(({ from, to }) =>
    partsOf(written, from, to)
      .filter(([start, end]) => start < to && from < end) // a mark for one that only touches would be empty
      .map(([start, end, lang]) => inks[lang ?? ""].range(Math.max(start, from), Math.min(end, to))),
  );
  return Decoration.set(marks, true);
}

const ink = ViewPlugin.define(
  (view) => {
    let decorations = inksOf(view);
    return {
      update({ startState, state, view: changed, viewportChanged }) {
        const isSame = startState.field(writtenField) === state.field(writtenField);
        if (!isSame || viewportChanged) decorations = inksOf(changed);
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
    return make("span", { className: "pen", ariaHidden: "true" });
  }
}

const pen = Decoration.widget({ widget: new Pen(), side: 1 });

const pens = EditorView.decorations.compute([runField], (state) => {
  const run = state.field(runField);
  return run && run.stage !== "closed" ? Decoration.set(pen.range(run.to)) : Decoration.none;
});

/** Each run is marked with its model's language, so that screen readers pronounce it correctly. */
export const inkDecorations: Extension = [ink, pens];
