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

/** The panel in the page's language, as an extension to configure anew when that changes. */
export const findWords = (): Extension =>
  EditorState.phrases.of(
    Object.fromEntries(Object.entries(words).map(([theirs, ours]) => [theirs, phrase(ours)])),
  );

export const finding: Extension = [search({ top: true }), keymap.of(searchKeymap)];

/** Opens the search for a key that is pressed outside the text. */
export function offerFinding(view: EditorView): void {
  document.addEventListener("keydown", (event) => {
    const isFind = event.key.toLowerCase() === "f" && (event.ctrlKey || event.metaKey) && !event.altKey;
    if (!isFind || event.shiftKey || event.defaultPrevented || document.querySelector("dialog[open]")) return;
    event.preventDefault();
    openSearchPanel(view);
  });
}
