// Pastes the text of a clipboard that holds only HTML, as some programs leave it.
import { EditorView } from "@codemirror/view";
import type { Extension } from "@codemirror/state";

/** Elements that begin a new line. */
const blocks =
  "address,article,blockquote,caption,dd,div,dl,dt,figure,footer,h1,h2,h3,h4,h5,h6,header,li,ol,p,pre,section,table,tr,ul";
const cells = "td,th";

/**
 * The text of `html`, one line per block and per row of a table, with tabs between its cells. It is parsed in a separate document, so that nothing in it runs or loads.
 */
export function textOfHtml(html: string): string {
  const { body } = new DOMParser().parseFromString(html, "text/html");
  for (const element of body.querySelectorAll("script,style,template")) element.remove();
  for (const text of textsIn(body)) text.data = text.data.replace(/\s+/g, " ");
  const breakIn = (element: Element) => (element.parentElement?.closest(cells) ? " " : "\n");
  for (const line of body.querySelectorAll("br")) line.replaceWith(breakIn(line));
  for (const block of body.querySelectorAll(blocks)) {
    block.prepend(breakIn(block));
    block.append(breakIn(block));
  }
  for (const cell of body.querySelectorAll(`:is(${cells}) + :is(${cells})`)) cell.prepend("\t");
  return body.textContent
    .replace(/ *\t */g, "\t")
    .replace(/ *\n[ \n]*/g, "\n")
    .replace(/ {2,}/g, " ")
    .replace(/^[ \n]+|[ \n]+$/g, "");
}

function textsIn(root: Node): Text[] {
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  const found: Text[] = [];
  while (walker.nextNode()) found.push(walker.currentNode as Text);
  return found;
}

export const pasteHtml: Extension = EditorView.domEventHandlers({
  paste(event, view) {
    const { clipboardData } = event;
    if (!clipboardData || clipboardData.getData("text/plain") !== "") return false;
    const text = textOfHtml(clipboardData.getData("text/html"));
    if (text === "") return false;
    view.dispatch(view.state.replaceSelection(text), { userEvent: "input.paste", scrollIntoView: true });
    return true;
  },
});
