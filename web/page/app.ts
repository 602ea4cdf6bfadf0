// The page: loads the demo model, and writes on from what the user types.
import { onPress } from "./dom/buttons.js";
import { askForElsewhere, isChosen, offerModels } from "./parts/chooser/chooser.js";
import { elements as ui } from "./dom/elements.js";
import { offerDevice } from "./parts/device/offer.js";
import { awaitStored, currentEditor, keptText, needEditor, onTextChange } from "./document/surface.js";
import { firstModel } from "./models/host.js";
import { awaitChoice, cancelLoading, needModel, showModel } from "./models/loading.js";
import { say, showError } from "./state/messages.js";
import { messageOf } from "./state/errors.js";
import {
  again,
  atCaret,
  atEnd,
  editorOrFailure,
  isWriting,
  stopWriting,
  updateButtons,
  write,
} from "./assistant/writing.js";
import { showLanguage } from "./parts/language/show.js";
import { loadTranslation } from "./language/translation.js";
import { offerOptions } from "./parts/options/options.js";
import { phrase } from "./language/start.js";
import { keepTold } from "./language/told.js";

/** Begins another text. The current one stays stored, and Undo brings it back. */
async function beginWith(text: string): Promise<void> {
  const tab = await import("./library/tab.js").catch(() => undefined);
  tab?.setAside();
  await write((editor) => {
    editor.replaceAll(text);
    return atEnd(editor);
  });
}

/** Each begins a text of its own. */
function offerOpenings(): void {
  for (const chip of ui.openings.querySelectorAll("button")) {
    const text = chip.textContent.replace(/…$/, "");
    onPress(chip, () => void beginWith(text));
  }
}

async function copy(): Promise<void> {
  try {
    await navigator.clipboard.writeText(keptText().text);
    say(() => phrase("copied"));
  } catch {
    // Pages of a host without TLS have no clipboard, and others can be refused it.
    const editor = await editorOrFailure();
    if (!editor) return;
    editor.selectAll();
    say(() => phrase("copyYourself"));
  }
}

function begin(): void {
  showLanguage();
  keepTold(ui.model, showModel);
  offerOptions();
  // Not the form's submit event: a sandbox without allow-forms fires none.
  ui.generate.addEventListener("click", (event) => {
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
    if (event.key === "Escape" && isWriting()) {
      event.preventDefault(); // it does only that
      void stopWriting();
    }
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault(); // a button or field that has the focus would take it, too
      void write(atCaret);
    }
  });

  offerOpenings();
  awaitStored(
    import("./library/tab.js")
      .then(({ keepText }) => keepText())
      .catch((error: unknown) => showError(() => phrase("noPart", { why: messageOf(error) }))),
  );
  updateButtons();
  onTextChange(updateButtons);
  requestAnimationFrame(() => void needEditor().catch(() => undefined)); // who needs it is told why it is not there
  ui.generate.disabled = false;
  ui.starting.hidden = true;
  offerModels();
  offerDevice();
  if (firstModel.elsewhere === undefined || isChosen()) void needModel();
  else awaitChoice(() => askForElsewhere(firstModel));
}

void loadTranslation().then(begin);
