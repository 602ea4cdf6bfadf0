// The form-associated interface of a control, like that of <textarea>.
import { setAttribute } from "./attributes.js";
import { Base } from "./html-element.js";

/** An element that is a control of its form. Subclasses define its value and when that changes. */
export abstract class FormControl extends Base {
  static readonly formAssociated: boolean = true;

  private readonly internals = this.attachInternals();
  /** The message of setCustomValidity. */
  private customError = "";
  private isFocusTried = false;

  /** The whole text. */
  abstract get value(): string;
  abstract set value(text: string | null | undefined);
  /** The value after the form is reset. */
  abstract get defaultValue(): string;
  abstract set defaultValue(text: string);
  /** Receives the focus if the element is invalid, with the browser's message beside it. */
  protected abstract readonly text: HTMLElement;
  /** The message for a missing required value. */
  protected abstract get missingMessage(): string;

  /** The name of the value in a form. */
  get name(): string {
    return this.getAttribute("name") ?? "";
  }
  set name(name: string) {
    setAttribute(this, "name", name);
  }
  /** Whether the element is disabled, by itself or by a fieldset around it. */
  get disabled(): boolean {
    return this.matches(":disabled");
  }
  set disabled(isDisabled: boolean) {
    setAttribute(this, "disabled", isDisabled);
  }
  /** Whether the form needs a value. */
  get required(): boolean {
    return this.hasAttribute("required");
  }
  set required(isRequired: boolean) {
    setAttribute(this, "required", isRequired);
  }
  /** The tag name of the element, in place of a control's type. */
  get type(): string {
    return this.localName;
  }
  /** The form that the element belongs to; null if there is none. */
  get form(): HTMLFormElement | null {
    return this.internals.form;
  }
  /** The labels of the element. */
  get labels(): NodeList {
    return this.internals.labels;
  }
  /** Whether the value is valid, and why not. */
  get validity(): ValidityState {
    return this.internals.validity;
  }
  /** The message that the browser shows for an invalid value. */
  get validationMessage(): string {
    return this.internals.validationMessage;
  }
  /** Whether the element takes part in validation. */
  get willValidate(): boolean {
    return this.internals.willValidate;
  }
  /** Makes the element invalid with the reason `message`; "" makes it valid again. */
  setCustomValidity(message: string): void {
    this.customError = message;
    this.showValue();
  }
  /** Whether the value is valid; fires `invalid` if it is not. */
  checkValidity(): boolean {
    return this.internals.checkValidity();
  }
  /** Like checkValidity, and also shows the message to the user. */
  reportValidity(): boolean {
    return this.internals.reportValidity();
  }

  /** Called when the browser restores the text of an earlier visit. */
  formStateRestoreCallback(state: unknown): void {
    if (typeof state === "string") this.value = state;
  }

  /** Implements `autofocus` if the element is defined after the browser has handled it. */
  protected focusFirst(): void {
    const { activeElement, body } = document;
    const isWanted = this.hasAttribute("autofocus") && !this.isFocusTried;
    this.isFocusTried = true;
    if (isWanted && (!activeElement || activeElement === body) && !document.querySelector(":target"))
      this.focus();
  }

  /** Reports the value and its validity to the form. */
  protected showValue(): void {
    const { internals, customError, value } = this;
    internals.setFormValue(value);
    const valueMissing = this.required && value === "";
    const message = customError || (valueMissing ? this.missingMessage : "");
    internals.setValidity({ valueMissing, customError: customError !== "" }, message, this.text);
  }
}
