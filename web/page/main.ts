// The page: loads the demo model, and writes on from what the user types.
import { onPress } from "./buttons.js";
import { askForElsewhere, isChosen, offerModels } from "./chooser.js";
import { elements as ui } from "./elements.js";
import { offerDevice } from "./device/offer.js";
import { currentEditor, keptText, needEditor, onTextChange } from "./editor/surface.js";
import { keepText } from "./kept-text.js";
import { firstModel } from "./host.js";
import { awaitChoice, cancelLoading, needModel } from "./loading.js";
import { say } from "./messages.js";
import { again, atCaret, atEnd, editorOrFailure, stopWriting, updateButtons, write } from "./writing.js";

const openings = ["Once upon a time", "Tom and his dog", "The sea was", "One day, Lily found"];

function addOpenings(): void {
  for (const text of openings) {
    const chip = document.createElement("button");
    chip.type = "button";
    chip.className = "plain";
    chip.textContent = `${text}…`;
    onPress(chip, () => {
      void write((editor) => {
        editor.replaceAll(text);
        return atEnd(editor);
      });
    });
    ui.openings.append(chip);
  }
}

async function copy(): Promise<void> {
  try {
    await navigator.clipboard.writeText(keptText().text);
    say("Copied.");
  } catch {
    // Pages of a host without TLS have no clipboard, and others can be refused it.
    const editor = await editorOrFailure();
    if (!editor) return;
    editor.selectAll();
    say("This page may not use the clipboard. The text is selected: copy it from there.");
  }
}

ui.form.addEventListener("submit", (event) => {
  event.preventDefault();
  void write(atCaret);
});
onPress(ui.stop, () => void stopWriting());
onPress(ui.loadingCancel, cancelLoading);
onPress(ui.continue, () => void write(atEnd));
onPress(ui.regenerate, () => void write(again));
onPress(ui.undo, () => currentEditor()?.undo());
onPress(ui.redo, () => currentEditor()?.redo());
onPress(ui.copy, () => void copy());
document.addEventListener("keydown", (event) => {
  if (event.isComposing || event.repeat) return;
  if (document.querySelector("dialog[open]")) return; // what lies behind it waits
  if (event.key === "Escape") void stopWriting();
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
    event.preventDefault(); // a button or field that has the focus would take it, too
    void write(atCaret);
  }
});

addOpenings();
keepText();
updateButtons();
onTextChange(updateButtons);
requestAnimationFrame(() => void needEditor().catch(() => undefined)); // who needs it is told why it is not there
ui.generate.disabled = false;
ui.starting.hidden = true;
offerModels();
offerDevice();
if (firstModel.elsewhere === undefined || isChosen()) void needModel();
else awaitChoice(() => askForElsewhere(firstModel));
