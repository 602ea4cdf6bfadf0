// Shows that the text cannot be stored on this device, and offers it as a file.
import { hideKeepingFocus } from "../../dom/buttons.js";
import { download } from "../../dom/download.js";
import type { Elements } from "../../dom/elements.js";
import { phrase } from "../../language/texts.js";
import { setTranslatedText } from "../../language/keep-translated.js";
import { fileName } from "../../library/alternatives.js";
import { reasonOf } from "./reason.js";

export type NoticeElements = Pick<Elements, "unstored" | "unstoredText" | "unstoredSave" | "generate">;

function saveAsFile(text: string): void {
  download(fileName(text, "txt"), [new Blob([text])], "text/plain;charset=utf-8");
}

/** Shows why the text is not stored, until `hideUnstored`. Offers the result of `textsNow` as files. */
export function showUnstored(ui: NoticeElements, error: unknown, textsNow: () => string[]): void {
  setTranslatedText(ui.unstoredText, () => phrase("unstored", { why: reasonOf(error) }));
  ui.unstoredSave.onclick = () => textsNow().forEach(saveAsFile);
  ui.unstored.hidden = false;
}

/** Call this when the text is stored again. */
export function hideUnstored(ui: NoticeElements): void {
  if (!ui.unstored.hidden) hideKeepingFocus(ui.unstored, ui.generate);
}
