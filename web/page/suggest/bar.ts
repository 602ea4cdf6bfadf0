// The suggestions as a bar above the buttons, where there is no Tab: on devices that are touched.
import { ViewPlugin, type EditorView } from "@codemirror/view";
import type { Extension } from "@codemirror/state";
import { choose, suggestionsField } from "./field.js";
import { plainButton } from "../buttons.js";
import { shown } from "./list.js";
import { phrase } from "../language/editor.js";

export const isTouched = () => matchMedia("(pointer: coarse)").matches;

function makeButton(text: string, action: () => void): HTMLButtonElement {
  const button = plainButton(text, action);
  button.addEventListener("pointerdown", (event) => event.preventDefault()); // the keyboard stays where it is
  return button;
}

/** Fills `bar`, which is always as high. After one is taken, the next are asked for. */
export function suggestionBar(
  bar: HTMLElement,
  take: (view: EditorView) => void,
  ask: (view: EditorView) => void,
): Extension {
  return ViewPlugin.define((view) => {
    bar.hidden = false;
    const show = () => {
      const suggestions = view.state.field(suggestionsField);
      bar.ariaBusy = String(suggestions?.isGrowing === true);
      const items = suggestions?.items ?? [];
      const others = items.map((item, place) =>
        makeButton(shown(item), () => {
          view.dispatch({ effects: choose.of(place) });
          take(view);
          ask(view);
        }),
      );
      bar.replaceChildren(...(others.length > 0 ? others : [makeButton(phrase("suggest"), () => ask(view))]));
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
