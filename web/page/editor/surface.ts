// The one text of the page: in a plain field until the editor has come, then in the editor.
import { elements as ui } from "../elements.js";
import type { Editor, KeptText } from "./editor.js";

let editor: Editor | undefined;
let coming: Promise<Editor> | undefined;
/** What the field was given when the page was loaded once more; as long as it is not changed, its parts are known. */
let restored: KeptText | undefined;
const listeners: (() => void)[] = [];
/** Whether an input method is at work in the field, which it has to stay in. */
let isComposing = false;

/** The editor, once it is there. */
export const currentEditor = () => editor;

const tell = () => {
  for (const listener of listeners) listener();
};

/** Calls `listener` after each change of the text, and when the editor has come. */
export function onTextChange(listener: () => void): void {
  listeners.push(listener);
}

ui.draft.setSelectionRange(ui.draft.value.length, ui.draft.value.length); // one goes on from its end
ui.draft.addEventListener("input", tell);
ui.draft.addEventListener("compositionstart", () => (isComposing = true));
ui.draft.addEventListener("compositionend", () => (isComposing = false));

/** Puts what was kept into the field, before there is an editor. */
export function restoreText(kept: KeptText): void {
  restored = kept;
  ui.draft.value = kept.text;
  ui.draft.setSelectionRange(kept.caret, kept.caret);
}

/** All of the text, wherever it is. */
export function keptText(): KeptText {
  if (editor) return editor.kept;
  const { value: text, selectionEnd } = ui.draft;
  if (restored?.text === text) return { ...restored, caret: selectionEnd };
  return { text, caret: selectionEnd, written: [], tree: restored?.tree };
}

/** The text that a model would go on from. */
export function textToCaret(): string {
  const { text, caret } = keptText();
  return text.slice(0, caret);
}

async function open(): Promise<Editor> {
  const { createEditor } = await import("./create.js");
  if (isComposing)
    await new Promise((ended) => ui.draft.addEventListener("compositionend", ended, { once: true }));
  const hadFocus = document.activeElement === ui.draft;
  ui.editor.hidden = false;
  editor = createEditor(keptText(), tell);
  ui.draft.hidden = true;
  if (hadFocus) editor.focus();
  tell();
  return editor;
}

/** The editor, which is fetched if it is not there. */
export function needEditor(): Promise<Editor> {
  if (editor) return Promise.resolve(editor);
  coming ??= open().finally(() => (coming = undefined));
  return coming;
}
