import { closeHistory } from "prosemirror-history";

/** Suggestions in a ProseMirror editor, where the caret is at the end of a paragraph. */
export const proseMirrorField = (view) => ({
  element: view.dom,
  textBefore() {
    const { doc, selection } = view.state;
    const { empty, $head } = selection;
    const isAtEnd = empty && $head.parentOffset === $head.parent.content.size;
    return isAtEnd && view.editable ? doc.textBetween(0, $head.pos, "\n") : undefined;
  },
  insert(text) {
    view.dispatch(closeHistory(view.state.tr.insertText(text))); // one step to undo
    return text;
  },
  caret() {
    const { left, top, bottom } = view.coordsAtPos(view.state.selection.head);
    return new DOMRect(left, top, 0, bottom - top);
  },
});
