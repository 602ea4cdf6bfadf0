// Where suggestions appear: an <input> or <textarea> of the page, or an editor that the page adapts.

/** What `<gpt2-autocomplete>` needs from an editor. Assign it to the element's property `field`. */
export interface SuggestionField {
  /** The element that has the focus. Its key and `input` events are handled. */
  readonly element: HTMLElement;
  /**
   * The text before the caret. undefined if no suggestion may appear: text is selected, the line continues after the
   * caret, or the editor is read-only.
   */
  textBefore(): string | undefined;
  /** Inserts `text` at the caret, as one undo step. Returns what it inserted: "" for nothing. */
  insert(text: string): string;
  /** The position of the caret in the viewport. The suggestion is drawn to its right. */
  caret(): DOMRectReadOnly;
  /** How many more UTF-16 units the editor accepts; unlimited by default. */
  room?(): number;
}

export type TextControl = HTMLTextAreaElement | HTMLInputElement;

/** Types of `<input>` that hold text and have a caret position. */
const textTypes = new Set(["text", "search", "tel", "url"]);
/** Fields whose `autocomplete` names one of these hold secrets. They are neither read nor get suggestions. */
const secret = /(?:^|\s)(?:(?:current|new)-password|one-time-code|cc-\S+)(?:\s|$)/i;
/** Fields that were once password fields: a button may show their contents as plain text. */
const wereSecret = new WeakSet<Element>();

// Compares the name, not the class: a field of another document, such as a frame's, has another class.
const isInput = (element: Element): element is HTMLInputElement => element.localName === "input";
const isTextarea = (element: Element): element is HTMLTextAreaElement => element.localName === "textarea";

function isSecret(element: Element): boolean {
  if (isInput(element) && element.type === "password") wereSecret.add(element);
  if (wereSecret.has(element) || secret.test(element.getAttribute("autocomplete") ?? "")) return true;
  const dots = getComputedStyle(element).getPropertyValue("-webkit-text-security");
  return dots !== "" && dots !== "none";
}

/** A text control as a place for suggestions, which can be drawn only at its end. */
export class ControlField implements SuggestionField {
  readonly element: TextControl;

  private constructor(control: TextControl) {
    this.element = control;
  }

  /** Why `element` can have no suggestions; undefined if it can. */
  static problemOf(element: Element): string | undefined {
    if (isSecret(element)) return "it may hold a secret";
    if (isTextarea(element) || (isInput(element) && textTypes.has(element.type))) return undefined;
    return `expected a <textarea>, or an <input> of type ${[...textTypes].join(", ")}; for an editor, set the property "field"`;
  }

  static of(element: Element): ControlField | undefined {
    const isText = ControlField.problemOf(element) === undefined;
    return isText ? new ControlField(element as TextControl) : undefined;
  }

  textBefore(): string | undefined {
    const { element } = this;
    const { value, selectionStart, selectionEnd } = element;
    const isAtEnd = selectionStart === selectionEnd && selectionEnd === value.length;
    const isOpen =
      !element.matches(":disabled") && !element.readOnly && ControlField.problemOf(element) === undefined;
    return isAtEnd && isOpen ? value : undefined;
  }

  room(): number {
    const { maxLength, value } = this.element;
    return maxLength < 0 ? Infinity : Math.max(0, maxLength - value.length);
  }

  /** Inserts as if typed, so that the browser can undo it and fires its events. */
  insert(text: string): string {
    const { element } = this;
    const before = element.value;
    this.endTyping();
    // eslint-disable-next-line @typescript-eslint/no-deprecated -- nothing else makes an edit that can be undone
    if (!element.ownerDocument.execCommand("insertText", false, text)) {
      element.setRangeText(text, before.length, before.length, "end");
      element.dispatchEvent(
        new InputEvent("input", { bubbles: true, composed: true, inputType: "insertText", data: text }),
      );
    }
    this.endTyping();
    return element.value.startsWith(before) ? element.value.slice(before.length) : "";
  }

  caret(): DOMRectReadOnly {
    return this.element.getBoundingClientRect(); // GhostText lays the control's text out instead
  }

  /** Moves the caret away and back, so that the next insertion is a separate undo step. */
  private endTyping(): void {
    const { element } = this;
    const end = element.value.length;
    if (end === 0 || element.selectionEnd !== end) return;
    element.setSelectionRange(end - 1, end - 1);
    element.setSelectionRange(end, end);
  }
}
