// The one text of the page: in a plain field until the editor has come, then in the editor.
import { differenceOf } from "./difference.js";
import type { Editor } from "./editor.js";
import type { KeptText } from "./kept-text.js";

/** Longer texts wait for the editor: fields are slow with them. */
const mostInField = 100_000;

export interface SurfaceSetting {
  field: HTMLTextAreaElement;
  /** What the editor is put into. */
  parent: HTMLElement;
  /** Brings what makes the editor; that calls `onChange` after each change of its text. */
  bring: () => Promise<(kept: KeptText, onChange: () => void) => Editor>;
  /** Called after each change of the text, and when the editor has come. */
  onChange: () => void;
}

/** `kept` with `typed` at its caret. */
function withTyped(kept: KeptText, typed: string): { text: string; caret: number } {
  const text = kept.draft ?? kept.text;
  const caret = Math.min(kept.caret, text.length);
  return { text: text.slice(0, caret) + typed + text.slice(caret), caret: caret + typed.length };
}

export class Surface {
  private readonly setting: SurfaceSetting;
  private editor: Editor | undefined;
  private coming: Promise<Editor> | undefined;
  /** The text that was stored on the device, which the editor begins with. */
  private stored: KeptText | undefined;
  /** What the field was given: the rest was typed. */
  private given: string;
  /** Settles when the stored text has been read, or there is no stored text. */
  private reading: Promise<void> = Promise.resolve();
  /** Whether an input method is at work in the field, which it has to stay in. */
  private isComposing = false;

  constructor(setting: SurfaceSetting) {
    this.setting = setting;
    const { field } = setting;
    this.given = field.defaultValue;
    field.setSelectionRange(field.value.length, field.value.length); // one goes on from its end
    field.addEventListener("input", () => setting.onChange());
    field.addEventListener("compositionstart", () => (this.isComposing = true));
    field.addEventListener("compositionend", () => (this.isComposing = false));
  }

  /** The editor, once it is there. */
  get current(): Editor | undefined {
    return this.editor;
  }

  /** The editor waits for `work`, which may restore the text. It must settle. */
  awaitStored(work: Promise<void>): void {
    this.reading = work;
  }

  /** Resolves when no input method is at work in the field. */
  private async compositionEnd(): Promise<void> {
    const { field } = this.setting;
    if (this.isComposing)
      await new Promise((ended) => field.addEventListener("compositionend", ended, { once: true }));
  }

  /** What was typed before the stored text was here. */
  private get typedBefore(): string {
    return differenceOf(this.given, this.setting.field.value)?.insert ?? "";
  }

  /** Puts what was stored into the field, before there is an editor; what was typed meanwhile goes to its caret. */
  async restore(kept: KeptText): Promise<void> {
    const { field, onChange } = this.setting;
    await this.compositionEnd();
    const { text, caret } = withTyped(kept, this.typedBefore);
    this.stored = kept;
    if (text.length <= mostInField) {
      field.value = kept.text;
      this.given = field.value;
      field.value = text;
      field.setSelectionRange(caret, caret);
    }
    onChange();
  }

  /** The text in the field, or the stored one that is too long for it, with what was typed. */
  private get fieldText(): { text: string; caret: number } {
    const { stored } = this;
    const { value: text, selectionEnd: caret } = this.setting.field;
    const isElsewhere = stored && this.given !== stored.text;
    return isElsewhere ? withTyped(stored, this.typedBefore) : { text, caret };
  }

  /** Puts into the field what was typed there when the page was left before anything was stored. */
  typeInField(typed: string | undefined): void {
    const { field } = this.setting;
    if (typed !== undefined && field.value === this.given) field.value = typed;
  }

  /** What was typed into the field, which the editor does not have yet; undefined: nothing was. */
  get typedInField(): string | undefined {
    const { value } = this.setting.field;
    return !this.editor && value !== this.given ? value : undefined;
  }

  /** All of the text, wherever it is. */
  get kept(): KeptText {
    return this.editor?.kept ?? { ...this.fieldText, written: [] };
  }

  /** As `kept`, with all that can be undone and all branches. */
  get keptWithHistory(): KeptText {
    const { editor, stored } = this;
    if (editor) return editor.keptWithHistory;
    if (!stored) return this.kept;
    const { text, caret } = this.fieldText;
    return { ...stored, caret, draft: text === stored.text ? undefined : text };
  }

  private async open(): Promise<Editor> {
    const { field, parent, bring, onChange } = this.setting;
    const [make] = await Promise.all([bring(), this.reading]);
    await this.compositionEnd();
    // Typing goes into the text unless the reader is elsewhere. On a touch screen a focus would open the keyboard.
    const isFree = document.activeElement === document.body && matchMedia("(pointer: fine)").matches;
    const hadFocus = document.activeElement === field || isFree;
    parent.hidden = false;
    const editor = (this.editor = make(this.keptWithHistory, onChange));
    field.hidden = true;
    if (hadFocus) editor.focus();
    onChange();
    return editor;
  }

  /** The editor, which is fetched if it is not there. */
  need(): Promise<Editor> {
    if (this.editor) return Promise.resolve(this.editor);
    this.coming ??= this.open().finally(() => (this.coming = undefined));
    return this.coming;
  }
}
