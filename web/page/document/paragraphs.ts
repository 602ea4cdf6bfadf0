// Each paragraph runs in the direction of its first strong character, as in `dir="auto"`.
import { RangeSetBuilder, type Extension } from "@codemirror/state";
import { Decoration, EditorView, ViewPlugin, type DecorationSet } from "@codemirror/view";

const auto = Decoration.line({ attributes: { dir: "auto" } });

function linesOf({ state, visibleRanges }: EditorView): DecorationSet {
  const lines = new RangeSetBuilder<Decoration>();
  for (const { from, to } of visibleRanges) {
    for (let at = from; at <= to;) {
      const line = state.doc.lineAt(at);
      lines.add(line.from, line.from, auto);
      at = line.to + 1;
    }
  }
  return lines.finish();
}

const lines = ViewPlugin.define(
  (view) => {
    let decorations = linesOf(view);
    return {
      update({ view: changed, docChanged, viewportChanged }) {
        if (docChanged || viewportChanged) decorations = linesOf(changed);
      },
      get decorations() {
        return decorations;
      },
    };
  },
  { decorations: (plugin) => plugin.decorations },
);

export const paragraphs: Extension = [EditorView.perLineTextDirection.of(true), lines];
