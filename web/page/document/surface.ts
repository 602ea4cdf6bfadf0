// The page's one text: in a plain field until the editor is loaded, then in the editor.
import { differenceOf } from "./difference.js";
import type { Editor } from "./editor.js";
import type { KeptText } from "./kept-text.js";

/** A plain field is slow with longer texts, which therefore wait for the editor. */
const mostInField = 100_000;

export interface SurfaceSetting {
  field: HTMLTextAreaElement;
  /** The element that the editor is mounted in. */
  parent: HTMLElement;
  /** Fetches the function that creates the editor. The editor calls `onChange` after each change of its text. */
  bring: () => Promise<(kept: KeptText, onChange: () => void) => Editor>;
  /** Called after each change of the text, and when the editor is ready. */
  onChange: () => void;
}

/** The text of `kept` with `typed` inserted at its caret. */
function withTyped(kept: KeptText, typed: string): { text: string; caret: number } {
  const text = kept.draft ?? kept.text;
  const caret = Math.min(kept.caret, text.length);
  return { text: text.slice(0, caret) + typed + text.slice(caret), caret: caret + typed.length };
}

export class Surface {
  private readonly setting: SurfaceSetting;
  private editor: Editor | undefined;
  private coming: Promise<Editor> | undefined;
  /** The stored text, which the editor starts with. */
  private stored: KeptText | undefined;
  /** The text that the page put into the field. Anything else in it was typed. */
  private given: string;
  /** Settles when the stored text has been read, or if there is none. */
  private reading: Promise<void> = Promise.resolve();
  /** Whether an input method is composing in the field. The field must not be replaced before it ends. */
  private isComposing = false;

  constructor(setting: SurfaceSetting) {
    this.setting = setting;
    const { field } = setting;
    this.given = field.defaultValue;
    field.setSelectionRange(field.value.length, field.value.length); // the visitor continues at its end
    field.addEventListener("input", () => setting.onChange());
    field.addEventListener("compositionstart", () => (this.isComposing = true));
    field.addEventListener("compositionend", () => (this.isComposing = false));
  }

  /** The editor, once it is loaded. */
  get current(): Editor | undefined {
    return this.editor;
  }

  /** Delays the editor until `work` settles, as it may restore the text. `work` must settle. */
  awaitStored(work: Promise<void>): void {
    this.reading = work;
  }

  /** Resolves when no input method is composing in the field. */
  private async compositionEnd(): Promise<void> {
    const { field } = this.setting;
    if (this.isComposing)
      await new Promise((ended) => field.addEventListener("compositionend", ended, { once: true }));
  }

  /** What was typed before the stored text was read. */
  private get typedBefore(): string {
    return differenceOf(this.given, this.setting.field.value)?.insert ?? "";
  }

  /**
   * Replaces the text by a stored one: in the editor or, before it is loaded, in the field. Text that was typed there in the
   * meantime goes to its caret.
   */
  async restore(kept: KeptText): Promise<void> {
    const { field, onChange } = this.setting;
    if (this.editor) return this.editor.begin(kept);
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

  /** The text in the field. If the stored text is too long for the field, that text with what was typed. */
  private get fieldText(): { text: string; caret: number } {
    const { stored } = this;
    const { value: text, selectionEnd: caret } = this.setting.field;
    const isElsewhere = stored && this.given !== stored.text;
    return isElsewhere ? withTyped(stored, this.typedBefore) : { text, caret };
  }

  /**
   * Restores text that was typed into the field during an earlier visit that ended before the text was stored. What was
   * typed before this code ran follows it.
   */
  typeInField(typed: string | undefined): void {
    const { field } = this.setting;
    if (typed !== undefined) field.value = typed + this.typedBefore;
  }

  /** What was typed into the field and is not in the editor yet; undefined if nothing was typed. */
  get typedInField(): string | undefined {
    const { value } = this.setting.field;
    return !this.editor && value !== this.given ? value : undefined;
  }

  /** The whole text, from the field or the editor. */
  get kept(): KeptText {
    return this.editor?.kept ?? { ...this.fieldText, written: [] };
  }

  /** As `kept`, with the undo history and all branches. */
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
    // Focuses the text unless another element has the focus. On a touch screen, a focus would open the keyboard.
    const isFree = document.activeElement === document.body && matchMedia("(pointer: fine)").matches;
    const hadFocus = document.activeElement === field || isFree;
    parent.hidden = false;
    const editor = (this.editor = make(this.keptWithHistory, onChange));
    field.hidden = true;
    if (hadFocus) editor.focus();
    onChange();
    return editor;
  }

  /** Returns the editor and fetches it if necessary. */
  need(): Promise<Editor> {
    if (this.editor) return Promise.resolve(this.editor);
    this.coming ??= this.open().finally(() => (this.coming = undefined));
    return this.coming;
  }
}
