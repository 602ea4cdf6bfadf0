// The keyboard's way out: after Escape, Tab moves on as everywhere else, however long one takes, until another key.
import { EditorView, keymap } from "@codemirror/view";
import { Prec, type Extension } from "@codemirror/state";

const passing = new Set(["Tab", "Escape", "Shift", "Control", "Alt", "Meta", "CapsLock"]);

const stay = (view: EditorView) => view.setTabFocusMode(false);

export const leaving: Extension = [
  // Last: an Escape that dismisses something does only that.
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
