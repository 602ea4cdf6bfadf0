// The one text of the page: in a plain field until the editor has come, then in the editor.
import { elements as ui } from "../dom/elements.js";
import { differenceOf } from "./difference.js";
import type { Editor } from "./editor.js";
import type { KeptText } from "./kept-text.js";

let editor: Editor | undefined;
let coming: Promise<Editor> | undefined;
/** The text that was stored on the device, which the editor begins with. */
let stored: KeptText | undefined;
/** What the field was given: the rest was typed. */
let given = ui.draft.defaultValue;
/** Settled once the stored text is here, or there is none. */
let reading: Promise<void> = Promise.resolve();
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

/** The editor waits for `work`, which may restore the text. It must settle. */
export function awaitStored(work: Promise<void>): void {
  reading = work;
}

/** Resolves when no input method is at work in the field. */
async function compositionEnd(): Promise<void> {
  if (isComposing)
    await new Promise((ended) => ui.draft.addEventListener("compositionend", ended, { once: true }));
}

/** Longer texts wait for the editor: fields are slow with them. */
const mostInField = 100_000;

/** What was typed before the stored text was here. */
const typedBefore = () => differenceOf(given, ui.draft.value)?.insert ?? "";

/** `kept` with `typed` at its caret. */
function withTyped(kept: KeptText, typed: string): { text: string; caret: number } {
  const text = kept.draft ?? kept.text;
  const caret = Math.min(kept.caret, text.length);
  return { text: text.slice(0, caret) + typed + text.slice(caret), caret: caret + typed.length };
}

/** Puts what was stored into the field, before there is an editor; what was typed meanwhile goes to its caret. */
export async function restoreText(kept: KeptText): Promise<void> {
  await compositionEnd();
  const { text, caret } = withTyped(kept, typedBefore());
  stored = kept;
  if (text.length <= mostInField) {
    ui.draft.value = kept.text;
    given = ui.draft.value;
    ui.draft.value = text;
    ui.draft.setSelectionRange(caret, caret);
  }
  tell();
}

/** The text in the field, or the stored one that is too long for it, with what was typed. */
function fieldText(): { text: string; caret: number } {
  const { value: text, selectionEnd: caret } = ui.draft;
  const isElsewhere = stored && given !== stored.text;
  return stored && isElsewhere ? withTyped(stored, typedBefore()) : { text, caret };
}

/** Puts into the field what was typed there when the page was left before anything was stored. */
export function typeInField(typed: string | undefined): void {
  if (typed !== undefined && ui.draft.value === given) ui.draft.value = typed;
}

/** Whether something was typed into the field, which the editor does not have yet. */
export const isTypedInField = (): boolean => !editor && ui.draft.value !== given;

/** All of the text, wherever it is. */
export const keptText = (): KeptText => editor?.kept ?? { ...fieldText(), written: [] };

/** As `keptText`, with all that can be undone and all branches. */
export function keptWithHistory(): KeptText {
  if (editor) return editor.keptWithHistory;
  if (!stored) return keptText();
  const { text, caret } = fieldText();
  return { ...stored, caret, draft: text === stored.text ? undefined : text };
}

/** The text that a model would go on from. */
export function textToCaret(): string {
  const { text, caret } = keptText();
  return text.slice(0, caret);
}

async function open(): Promise<Editor> {
  const [{ createEditor }] = await Promise.all([import("../after-paint.js"), reading]);
  await compositionEnd();
  // Typing goes into the text unless the reader is elsewhere. On a touch screen a focus would open the keyboard.
  const isFree = document.activeElement === document.body && matchMedia("(pointer: fine)").matches;
  const hadFocus = document.activeElement === ui.draft || isFree;
  ui.editor.hidden = false;
  editor = createEditor(keptWithHistory(), tell);
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
