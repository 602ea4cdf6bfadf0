import { isolateHistory } from "@codemirror/commands";

/** Suggestions in a CodeMirror 6 editor, where the caret is at the end of a line. */
export const codeMirrorField = (view) => ({
  element: view.dom,
  textBefore() {
    const { doc, selection, readOnly } = view.state;
    const { empty, head } = selection.main;
    const isAtEnd = empty && head === doc.lineAt(head).to;
    return isAtEnd && !readOnly ? doc.sliceString(0, head) : undefined;
  },
  insert(text) {
    const { head } = view.state.selection.main;
    view.dispatch({
      changes: { from: head, insert: text },
      selection: { anchor: head + text.length },
      annotations: isolateHistory.of("full"), // one step to undo
      userEvent: "input.complete",
    });
    return text;
  },
  caret() {
    const { left, top, bottom } = view.coordsAtPos(view.state.selection.main.head);
    return new DOMRect(left, top, 0, bottom - top);
  },
});
