// Lets keyboard users leave the editor: after Escape, Tab moves the focus on, until another key is pressed.
import { EditorView, keymap } from "@codemirror/view";
import { Prec, type Extension } from "@codemirror/state";

const passing = new Set(["Tab", "Escape", "Shift", "Control", "Alt", "Meta", "CapsLock"]);

const stay = (view: EditorView) => view.setTabFocusMode(false);

export const tabAfterEscape: Extension = [
  // Lowest precedence: an Escape that dismisses something has no other effect.
  Prec.lowest(
    keymap.of([
      {
        key: "Escape",
        run: (view) => {
          view.setTabFocusMode(true);
          return false;
        },
      },
    ]),
  ),
  EditorView.domEventObservers({
    keydown(event, view) {
      if (!passing.has(event.key)) stay(view);
    },
    blur: (_event, view) => stay(view),
    pointerdown: (_event, view) => stay(view),
  }),
];
