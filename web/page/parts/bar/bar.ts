// The buttons below the text, and the keys that do the same.
import { overLastRun, atCaret, atEnd, type Writing } from "../../assistant/writing.js";
import type { Surface } from "../../document/surface.js";
import { hideKeepingFocus, onPress, setEnabled } from "../../dom/buttons.js";
import type { Elements } from "../../dom/elements.js";
import { phrase } from "../../language/start.js";
import { setTranslatedText } from "../../language/keep-translated.js";
import type { PageState } from "../../state/page-state.js";

export interface BarSetting {
  ui: Pick<
    Elements,
    "draft" | "generate" | "openings" | "continue" | "regenerate" | "copy" | "share" | "undo" | "redo"
  >;
  state: PageState;
  surface: Pick<Surface, "current" | "kept">;
  writing: Pick<Writing, "write" | "stop">;
  /** Starts a new text with these words. */
  beginWith: (text: string) => void;
}

function showEnabled(isBusy: boolean, { ui, state, surface }: BarSetting): void {
  const editor = surface.current;
  const run = editor?.run;
  const hasText = editor ? editor.length > 0 : surface.kept.text !== "";
  const hasRun = run != null && run.from < run.to;
  setTranslatedText(ui.generate, () => phrase(isBusy ? "stop" : "generate"));
  for (const button of ui.openings.querySelectorAll("button")) setEnabled(button, !isBusy);
  setEnabled(ui.continue, !isBusy && hasText);
  setEnabled(ui.regenerate, !isBusy && hasRun);
  if (hasRun) ui.regenerate.hidden = false;
  else if (!isBusy) hideKeepingFocus(ui.regenerate, ui.generate);
  setEnabled(ui.copy, hasText);
  setEnabled(ui.share, !isBusy && hasText);
  setEnabled(ui.undo, editor?.canUndo ?? false);
  setEnabled(ui.redo, editor?.canRedo ?? false);
  editor?.showBusy(isBusy);
  if (!isBusy && !hasText) state.tokensPerSecond.value = undefined; // the speed belonged to the deleted text
}

/** Writes over the last run. A fixed seed, or a low temperature, gives the same text: then the status says why. */
async function writeAnother({ state, surface, writing }: BarSetting): Promise<void> {
  const runText = () => {
    const { current: editor } = surface;
    return editor?.run && editor.textBefore(editor.run.to).slice(editor.run.from);
  };
  const before = runText();
  const written = await writing.write(overLastRun);
  if (written?.hasEnded && runText() === before) state.sayOfText(() => phrase("sameText"));
}

export function offerBar(setting: BarSetting): void {
  const { ui, state, surface, writing, beginWith } = setting;
  // Listens to clicks: in a sandbox without allow-forms, a form does not fire its submit event.
  ui.generate.addEventListener("click", (event) => {
    event.preventDefault();
    if (event.detail > 1) return; // the second click of a double click was meant for the button's earlier action
    if (state.activity.peek().kind === "writing") void writing.stop();
    else void writing.write(atCaret);
  });
  onPress(ui.continue, () => void writing.write(atEnd));
  onPress(ui.regenerate, () => void writeAnother(setting));
  const show = () => showEnabled(state.activity.peek().kind === "writing", setting);
  onPress(ui.undo, () => surface.current?.undo());
  onPress(ui.redo, () => surface.current?.redo());
  // After a press with the mouse, keys go to the text, unless the press has led to another field, as to an invalid option. A
  // key's press (0) leaves the focus; on a touch screen, the text's would open the keyboard.
  const chips = ui.openings.querySelectorAll("button");
  for (const button of [ui.generate, ui.continue, ui.regenerate, ui.undo, ui.redo, ...chips])
    button.addEventListener("click", ({ detail }) => {
      const isElsewhere = document.activeElement?.matches("input, textarea");
      if (detail > 0 && !isElsewhere && matchMedia("(pointer: fine)").matches)
        (surface.current ?? ui.draft).focus();
    });
  document.addEventListener("keydown", (event) => {
    if (event.isComposing || event.repeat) return;
    if (document.querySelector("dialog[open]")) return; // a dialog blocks the keys of the page
    if (event.key === "Escape" && state.activity.peek().kind === "writing") {
      event.preventDefault(); // Escape must not have another effect
      void writing.stop();
    }
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault(); // a focused button or field would also handle the key
      void writing.write(atCaret);
    }
  });
  for (const chip of chips) {
    const text = chip.textContent.replace(/…$/, "");
    onPress(chip, () => beginWith(text));
  }
  state.text.subscribe(show);
  state.activity.subscribe(show);
  ui.generate.disabled = false;
}
