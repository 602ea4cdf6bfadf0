// The suggestions as a list beneath the caret.
import { EditorView, showTooltip, tooltips, type TooltipView } from "@codemirror/view";
import type { Extension } from "@codemirror/state";
import { lowestFree } from "../../document/follower.js";
import { textOf, type Piece } from "../../document/pieces.js";
import { chooseSuggestion, suggestionsField, type Suggestions } from "./field.js";
import { phrase } from "../../language/editor.js";

/** As it is shown: without the space before it, and on one line. */
export const suggestionLabel = (item: readonly Piece[]): string => textOf(item).replace(/\n+/g, " ↵ ").trim();

const optionId = (place: number) => `suggestion-${place}`;

function addOption(list: HTMLElement, place: number): HTMLElement {
  const option = document.createElement("li");
  option.id = optionId(place);
  option.role = "option";
  list.append(option);
  return option;
}

function createList(view: EditorView, take: (view: EditorView) => void): TooltipView {
  const dom = document.createElement("ul");
  dom.className = "suggestions";
  dom.id = "suggestions";
  dom.role = "listbox";
  dom.ariaLabel = phrase("suggestions");
  /** Those that are shown, in their places: one that was replaced while it is pressed would never hear of it. */
  const options: HTMLElement[] = [];
  const placeOf = (target: EventTarget | null) =>
    options.findIndex((option) => target instanceof Node && option.contains(target));
  /** Where a press began. */
  let pressed = -1;
  dom.addEventListener("mousedown", (event) => event.preventDefault()); // the focus stays in the text
  dom.addEventListener("pointerdown", ({ target }) => (pressed = placeOf(target)));
  dom.addEventListener("click", ({ target, detail }) => {
    // Those below one whose line breaks as it grows slide from under the pointer. Without a pointer, there is no detail.
    const place = detail > 0 ? pressed : placeOf(target);
    if (place === -1) return;
    view.dispatch({ effects: chooseSuggestion.of(place) });
    take(view);
  });
  const show = () => {
    const suggestions = view.state.field(suggestionsField);
    if (!suggestions) return;
    dom.ariaBusy = String(suggestions.isGrowing);
    for (const option of options.splice(suggestions.items.length)) option.remove();
    for (const [place, item] of suggestions.items.entries()) {
      const option = (options[place] ??= addOption(dom, place));
      option.ariaSelected = String(place === suggestions.chosen);
      option.textContent = suggestionLabel(item);
    }
  };
  show();
  return {
    dom,
    update: ({ startState, state }) => {
      if (startState.field(suggestionsField) !== state.field(suggestionsField)) show();
    },
  };
}

/** There may be none that goes on from what was typed, until they have grown. */
const isShown = (suggestions: Suggestions | null): suggestions is Suggestions =>
  suggestions !== null && suggestions.items.length > 0;

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
      isShown(suggestions) ? { pos: suggestions.at, above: false, create } : null,
    ),
    EditorView.contentAttributes.compute([suggestionsField], (state): Record<string, string> => {
      const suggestions = state.field(suggestionsField);
      if (!isShown(suggestions)) return {};
      return { "aria-controls": "suggestions", "aria-activedescendant": optionId(suggestions.chosen) };
    }),
  ];
}
