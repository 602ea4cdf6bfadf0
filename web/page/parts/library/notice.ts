// Shows that the text cannot be stored on this device, and offers it as a file.
import { hideKeepingFocus } from "../../dom/buttons.js";
import { download } from "../../dom/download.js";
import { elements as ui } from "../../dom/elements.js";
import { phrase } from "../../language/texts.js";
import { setTranslatedText } from "../../language/keep-translated.js";
import { fileName } from "../../library/alternatives.js";
import { reasonOf } from "./reason.js";

function saveAsFile(text: string): void {
  download(fileName(text, "txt"), [new Blob([text])], "text/plain;charset=utf-8");
}

/** Shows why the text is not stored, until `hideUnstored`. Offers the result of `textNow` as a file. */
export function showUnstored(error: unknown, textNow: () => string): void {
  setTranslatedText(ui.unstoredText, () => phrase("unstored", { why: reasonOf(error) }));
  ui.unstoredSave.onclick = () => saveAsFile(textNow());
  ui.unstored.hidden = false;
}

/** Call this when the text is stored again. */
export function hideUnstored(): void {
  if (!ui.unstored.hidden) hideKeepingFocus(ui.unstored, ui.generate);
}
