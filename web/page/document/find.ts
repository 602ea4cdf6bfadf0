// Search and replace. The browser's own search would find only the visible lines, because the editor renders no
// others.
import "./find.css";
import { gotoLine, openSearchPanel, search, searchKeymap } from "@codemirror/search";
import { EditorState, type Extension } from "@codemirror/state";
import { keymap, type EditorView } from "@codemirror/view";
import { phrase } from "../language/editor.js";
import { countOfMatches } from "./find-count.js";

/** CodeMirror's phrases and our replacements. Phrases of controls that find.css hides are not listed. */
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
  "Selection deleted": "selectionDeleted",
} as const;

/**
 * Getters, so that the panel opens in the page's current language. A change of the facet itself would restart
 * CodeMirror.
 */
const spoken = Object.defineProperties(
  {},
  Object.fromEntries(
    Object.entries(words).map(([theirs, ours]) => [theirs, { enumerable: true, get: () => phrase(ours) }]),
  ),
);

export const searchAndReplace: Extension = [
  search({ top: true, literal: true }), // a backslash is a backslash
  countOfMatches,
  // Without Go to line: paragraphs show no numbers.
  keymap.of(searchKeymap.filter(({ run }) => run !== gotoLine)),
  EditorState.phrases.of(spoken),
];

/** Opens the search when `button` is pressed, or its key outside the text. */
export function offerSearch(button: HTMLButtonElement, view: EditorView): void {
  button.addEventListener("click", () => openSearchPanel(view));
  document.addEventListener("keydown", (event) => {
    const isFind = event.key.toLowerCase() === "f" && (event.ctrlKey || event.metaKey) && !event.altKey;
    if (!isFind || event.shiftKey || event.defaultPrevented || document.querySelector("dialog[open]")) return;
    event.preventDefault();
    openSearchPanel(view);
  });
}
