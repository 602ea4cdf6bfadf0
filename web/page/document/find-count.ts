// The count of matches in the search: "116", or "3 / 116" while the third is selected. After Replace all, how many it has
// replaced.
import { getSearchQuery, searchPanelOpen } from "@codemirror/search";
import { EditorView } from "@codemirror/view";
import type { EditorState, Transaction } from "@codemirror/state";

function countOf(state: EditorState): string {
  const query = getSearchQuery(state);
  if (!query.valid) return "";
  const { from, to } = state.selection.main;
  let count = 0;
  let selected = 0;
  const cursor = query.getCursor(state);
  for (let match = cursor.next(); !match.done; match = cursor.next()) {
    count += 1;
    if (match.value.from === from && match.value.to === to) selected = count;
  }
  return selected === 0 ? `${count}` : `${selected} / ${count}`;
}

/** What CodeMirror announces when all matches are replaced; undefined after another change. */
const replacedBy = (transactions: readonly Transaction[]): string | undefined =>
  transactions
    .filter((each) => each.isUserEvent("input.replace.all"))
    .flatMap(({ effects }) => effects)
    .find((effect) => effect.is(EditorView.announce))?.value;

export const countOfMatches = EditorView.updateListener.of((update) => {
  const { view, state, startState, docChanged, transactions } = update;
  const field = searchPanelOpen(state) && view.dom.querySelector(".cm-search [name=search]");
  if (!field) return;
  let shown = view.dom.querySelector(".find-count");
  const isSame =
    state.selection.eq(startState.selection) && getSearchQuery(state).eq(getSearchQuery(startState));
  if (shown && !docChanged && isSame) return;
  if (!shown) {
    shown = document.createElement("span");
    shown.className = "find-count";
    field.after(shown);
  }
  shown.textContent = replacedBy(transactions) ?? countOf(state);
});
