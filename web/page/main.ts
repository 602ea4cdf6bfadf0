// The page: loads the demo model, and writes on from what the user types.
import { onPress } from "./buttons.js";
import { askForElsewhere, isChosen, offerModels } from "./chooser.js";
import { elements as ui } from "./elements.js";
import { showEnvironment } from "./environment.js";
import { keepText } from "./kept-text.js";
import { firstModel } from "./host.js";
import { cancelLoading, needModel } from "./loading.js";
import { say } from "./messages.js";
import { output, stopWriting, updateButtons, write } from "./writing.js";

const openings = ["Once upon a time", "Tom and his dog", "The sea was", "One day, a little girl named Lily"];

function addOpenings(): void {
  for (const text of openings) {
    const chip = document.createElement("button");
    chip.type = "button";
    chip.className = "plain";
    chip.textContent = `${text}…`;
    onPress(chip, () => {
      ui.prompt.value = text;
      void write(text);
    });
    ui.openings.append(chip);
  }
}

async function copy(): Promise<void> {
  try {
    await navigator.clipboard.writeText(output.text);
    say("Copied.");
  } catch {
    // Pages of a host without TLS have no clipboard, and others can be refused it.
    getSelection()?.selectAllChildren(ui.output);
    say("This page may not use the clipboard. The text is selected: copy it from there.");
  }
}

ui.form.addEventListener("submit", (event) => {
  event.preventDefault();
  void write(ui.prompt.value);
});
onPress(ui.stop, stopWriting);
onPress(ui.loadingCancel, cancelLoading);
onPress(ui.continue, () => void write(output.text));
onPress(ui.copy, () => void copy());
document.addEventListener("keydown", (event) => {
  if (event.isComposing || event.repeat) return;
  if (event.key === "Escape") stopWriting();
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
    event.preventDefault(); // a button or field that has the focus would take it, too
    void write(ui.prompt.value);
  }
});

addOpenings();
keepText(output);
updateButtons();
ui.generate.disabled = false;
ui.starting.hidden = true;
offerModels();
void showEnvironment();
if (firstModel.elsewhere === undefined || isChosen()) void needModel();
else askForElsewhere(firstModel);
