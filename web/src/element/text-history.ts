// The undo history of the writer's field. The browser's own is wrong once a script has changed the text.

/** The most texts that can be restored. */
const mostTexts = 200;
/** Edits of these types that follow one another form one step, up to the end of a word. */
const joined = /^(insertText|insertCompositionText|delete\w+ward)$/;

/** -1 for the keys of Undo, 1 for those of Redo, 0 for others. */
function stepOf({ key, ctrlKey, metaKey, altKey, shiftKey }: KeyboardEvent): -1 | 0 | 1 {
  if (altKey || ctrlKey === metaKey) return 0;
  if (key.toLowerCase() === "z") return shiftKey ? 1 : -1;
  return key.toLowerCase() === "y" && ctrlKey ? 1 : 0;
}

export class TextHistory {
  private readonly field: HTMLTextAreaElement;
  private texts: string[];
  private at = 0;
  /** The type of the last edit, if the next one may join it. */
  private type: string | undefined;
  private isOneStep = false;

  /** Handles keys within `root`, and edits of `field`. */
  constructor(root: ShadowRoot, field: HTMLTextAreaElement) {
    this.field = field;
    this.texts = [field.value];
    root.addEventListener("keydown", (event) => this.go(event, stepOf(event as KeyboardEvent)));
    field.addEventListener("beforeinput", (event) => {
      if (event.inputType === "historyUndo") this.go(event, -1);
      if (event.inputType === "historyRedo") this.go(event, 1);
    });
    field.addEventListener("input", (event) => this.add(event as InputEvent));
  }

  /** Forgets all texts but the present one. */
  clear(): void {
    this.texts = [this.field.value];
    this.at = 0;
    this.type = undefined;
  }

  /** All edits from now on form one step, until this is called with false. */
  setOneStep(isOneStep: boolean): void {
    this.isOneStep = isOneStep;
    this.type = undefined;
  }

  private add({ inputType, data }: InputEvent): void {
    const { value } = this.field;
    if (value === this.texts[this.at]) return;
    const type = this.isOneStep ? "step" : joined.test(inputType) ? inputType : undefined;
    const isNew = type === undefined || type !== this.type || (!this.isOneStep && /^\s/.test(data ?? ""));
    if (isNew) this.at += 1;
    this.texts.splice(this.at, Infinity, value);
    if (this.texts.length > mostTexts) this.texts.shift();
    this.at = this.texts.length - 1;
    this.type = type;
  }

  private go(event: Event, step: -1 | 0 | 1): void {
    if (step === 0) return;
    event.preventDefault(); // even without a text to restore: the browser would insert a wrong one
    const { field } = this;
    const text = this.texts[this.at + step];
    if (text === undefined || field.readOnly || field.disabled) return;
    const before = field.value;
    let same = 0; // letters at the end of both
    while (same < Math.min(text.length, before.length) && text.at(-1 - same) === before.at(-1 - same))
      same += 1;
    this.at += step;
    this.type = undefined;
    field.value = text;
    field.setSelectionRange(text.length - same, text.length - same);
    const inputType = step < 0 ? "historyUndo" : "historyRedo";
    field.dispatchEvent(new InputEvent("input", { bubbles: true, composed: true, inputType }));
  }
}
