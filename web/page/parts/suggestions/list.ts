// Shows the suggestions as a list below the caret.
import { EditorView, showTooltip, tooltips, type TooltipView } from "@codemirror/view";
import type { Extension } from "@codemirror/state";
import { lowestFree } from "../../document/follower.js";
import { textOf, type Piece } from "../../document/pieces.js";
import { chooseSuggestion, suggestionsField, type Suggestions } from "./field.js";
import { make } from "../../dom/make.js";
import { phrase } from "../../language/editor.js";

/** A suggestion on one line, without its leading space. */
export const suggestionLabel = (item: readonly Piece[]): string => textOf(item).replace(/\n+/g, " ↵ ").trim();

const optionId = (place: number) => `suggestion-${place}`;

function addOption(list: HTMLElement, place: number): HTMLElement {
  return list.appendChild(make("li", { id: optionId(place), role: "option" }));
}

function createList(view: EditorView, take: (view: EditorView) => void): TooltipView {
  const ariaLabel = phrase("suggestions");
  const dom = make("ul", { id: "suggestions", className: "suggestions", role: "listbox", ariaLabel });
  /** The items of the list stay in place: one that is replaced during a press would not receive the click. */
  const options: HTMLElement[] = [];
  const placeOf = (target: EventTarget | null) =>
    options.findIndex((option) => target instanceof Node && option.contains(target));
  /** The item where a press began. */
  let pressed = -1;
  dom.addEventListener("mousedown", (event) => event.preventDefault()); // keeps the focus in the text
  dom.addEventListener("pointerdown", ({ target }) => (pressed = placeOf(target)));
  dom.addEventListener("click", ({ target, detail }) => {
    // When a suggestion wraps to another line, those below it move away from the pointer. `detail` is 0 without a
    // pointer.
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

/** While suggestions grow, possibly none of them continues what was typed. */
const isShown = (suggestions: Suggestions | null): suggestions is Suggestions =>
  suggestions !== null && suggestions.items.length > 0;

/** Calls `take` for the pressed suggestion. */
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
      // The window scrolls the text, so its lowest lines are in sight, although the dock's margin counts as covered.
      isShown(suggestions) ? { pos: suggestions.at, above: false, clip: false, create } : null,
    ),
    EditorView.contentAttributes.compute([suggestionsField], (state): Record<string, string> => {
      const suggestions = state.field(suggestionsField);
      if (!isShown(suggestions)) return {};
      return { "aria-controls": "suggestions", "aria-activedescendant": optionId(suggestions.chosen) };
    }),
  ];
}
