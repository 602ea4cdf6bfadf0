/** Suggestions in a `contenteditable` element, where the caret is at the end of its text. */
export const contentEditableField = (element) => ({
  element,
  textBefore() {
    const selection = getSelection();
    if (!selection.isCollapsed || !element.contains(selection.anchorNode)) return undefined;
    const after = document.createRange();
    after.selectNodeContents(element);
    after.setStart(selection.anchorNode, selection.anchorOffset);
    return after.toString().trim() === "" ? element.innerText.replace(/\n$/, "") : undefined;
  },
  insert(text) {
    // Moving the caret ends what was typed before: the suggestion is one step to undo.
    for (const way of ["backward", "forward"]) getSelection().modify("move", way, "character");
    return document.execCommand("insertText", false, text) ? text : "";
  },
  caret() {
    const range = getSelection().getRangeAt(0);
    return range.getClientRects()[0] ?? element.getBoundingClientRect();
  },
});
