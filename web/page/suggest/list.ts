// The suggestions as a list beneath the caret.
import { EditorView, showTooltip, tooltips, type TooltipView } from "@codemirror/view";
import type { Extension } from "@codemirror/state";
import { lowestFree } from "../editor/follower.js";
import { textOf, type Piece } from "../editor/pieces.js";
import { choose, suggestionsField } from "./field.js";
import { phrase } from "../language/editor.js";

/** As it is shown: without the space before it, and on one line. */
export const shown = (item: readonly Piece[]): string => textOf(item).replace(/\n+/g, " ↵ ").trim();

const optionId = (place: number) => `suggestion-${place}`;

function createList(view: EditorView, take: (view: EditorView) => void): TooltipView {
  const dom = document.createElement("ul");
  dom.className = "suggestions";
  dom.id = "suggestions";
  dom.role = "listbox";
  dom.ariaLabel = phrase("suggestions");
  dom.addEventListener("mousedown", (event) => event.preventDefault()); // the focus stays in the text
  dom.addEventListener("click", ({ target }) => {
    const place = [...dom.children].findIndex((option) => target instanceof Node && option.contains(target));
    if (place === -1) return;
    view.dispatch({ effects: choose.of(place) });
    take(view);
  });
  const show = () => {
    const suggestions = view.state.field(suggestionsField);
    if (!suggestions) return;
    dom.ariaBusy = String(suggestions.isGrowing === true);
    const options = suggestions.items.map((item, place) => {
      const option = document.createElement("li");
      option.id = optionId(place);
      option.role = "option";
      option.ariaSelected = String(place === suggestions.chosen);
      option.textContent = shown(item);
      return option;
    });
    dom.replaceChildren(...options);
  };
  show();
  return {
    dom,
    update: ({ startState, state }) => {
      if (startState.field(suggestionsField) !== state.field(suggestionsField)) show();
    },
  };
}

/** `take` is called for one that is pressed. */
export function suggestionList(dock: HTMLElement, take: (view: EditorView) => void): Extension {
  const create = (view: EditorView) => createList(view, take);
  return [
    tooltips({
      tooltipSpace: () => ({
        top: 0,
        left: 0,
        right: document.documentElement.clientWidth,
        bottom: lowestFree(dock),
      }),
    }),
    showTooltip.from(suggestionsField, (suggestions) =>
      suggestions ? { pos: suggestions.at, above: false, create } : null,
    ),
    EditorView.contentAttributes.compute([suggestionsField], (state): Record<string, string> => {
      const suggestions = state.field(suggestionsField);
      if (!suggestions) return {};
      return { "aria-controls": "suggestions", "aria-activedescendant": optionId(suggestions.chosen) };
    }),
  ];
}
