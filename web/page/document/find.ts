// Search and replace. The browser's own search finds only the lines on the screen: the editor keeps no others in the document.
import "./find.css";
import { openSearchPanel, search, searchKeymap } from "@codemirror/search";
import { EditorState, type Extension } from "@codemirror/state";
import { keymap, type EditorView } from "@codemirror/view";
import { phrase } from "../language/editor.js";

/** CodeMirror's words for its panel and for what it announces, and ours. Those that find.css hides have none. */
const words = {
  Find: "find.find",
  Replace: "find.with",
  next: "find.next",
  previous: "find.previous",
  "match case": "find.case",
  replace: "find.replace",
  "replace all": "find.replaceAll",
  close: "find.close",
  "current match": "find.current",
  "on line": "find.onLine",
  "replaced match on line $": "find.replacedOne",
  "replaced $ matches": "find.replacedAll",
} as const;

/** Read as the panel opens, so that it has the page's language. CodeMirror starts anew where the facet itself changes. */
const spoken = Object.defineProperties(
  {},
  Object.fromEntries(
    Object.entries(words).map(([theirs, ours]) => [theirs, { enumerable: true, get: () => phrase(ours) }]),
  ),
);

export const searchAndReplace: Extension = [
  search({ top: true }),
  keymap.of(searchKeymap),
  EditorState.phrases.of(spoken),
];

/** Opens the search for a key that is pressed outside the text. */
export function openSearchByKey(view: EditorView): void {
  document.addEventListener("keydown", (event) => {
    const isFind = event.key.toLowerCase() === "f" && (event.ctrlKey || event.metaKey) && !event.altKey;
    if (!isFind || event.shiftKey || event.defaultPrevented || document.querySelector("dialog[open]")) return;
    event.preventDefault();
    openSearchPanel(view);
  });
}
