// Shows the suggestions as a bar above the buttons, on touch devices, which have no Tab key.
import { ViewPlugin, type EditorView } from "@codemirror/view";
import type { Extension } from "@codemirror/state";
import { suggestionCount } from "../../assistant/suggest.js";
import { chooseSuggestion, suggestionsField } from "./field.js";
import { hideKeepingFocus, plainButton } from "../../dom/buttons.js";
import { suggestionLabel } from "./list.js";
import { phrase } from "../../language/editor.js";
import { setTranslatedText } from "../../language/keep-translated.js";

function makeButton(text: string, action: () => void): HTMLButtonElement {
  const button = plainButton(text, action);
  button.addEventListener("pointerdown", (event) => event.preventDefault()); // keeps the on-screen keyboard open
  return button;
}

/** Fills `bar`, whose height never changes. After a suggestion is taken, the next ones are requested. */
export function suggestionBar(
  bar: HTMLElement,
  take: (view: EditorView) => void,
  ask: (view: EditorView) => void,
): Extension {
  return ViewPlugin.define((view) => {
    const asker = makeButton("", () => ask(view));
    setTranslatedText(asker, () => phrase("suggest"));
    // The buttons stay in place: replacing one would drop the focus, or the press of a finger.
    const takers = Array.from({ length: suggestionCount }, (_, place) => {
      const text = document.createElement("span");
      const button = makeButton("", () => {
        view.dispatch({ effects: chooseSuggestion.of(place) });
        take(view);
        ask(view);
      });
      button.append(text);
      return { button, text };
    });
    const buttons = [asker, ...takers.map(({ button }) => button)];
    bar.replaceChildren(...buttons);
    bar.hidden = false;
    const show = () => {
      const suggestions = view.state.field(suggestionsField);
      const items = suggestions?.items ?? [];
      bar.ariaBusy = String(suggestions?.isGrowing === true);
      for (const [place, { button, text }] of takers.entries()) {
        const item = items[place];
        if (item) text.textContent = suggestionLabel(item);
        button.ariaCurrent = String(place === suggestions?.chosen); // the suggestion that Tab would take
      }
      const [first = asker, ...others] = takers.slice(0, items.length).map(({ button }) => button);
      const there = new Set([first, ...others]);
      for (const button of there) button.hidden = false;
      for (const button of buttons) if (!there.has(button)) hideKeepingFocus(button, first);
    };
    show();
    return {
      update({ startState, state }) {
        if (startState.field(suggestionsField) !== state.field(suggestionsField)) show();
      },
      destroy: () => (bar.hidden = true),
    };
  });
}
