// Buttons that keep the focus. A disabled or hidden button never drops the focus to the body, where a keyboard user
// would have to start again.
import { make } from "./make.js";

/** Enables or disables a button. Unlike with `disabled`, a focused button keeps the focus. */
export function setEnabled(button: HTMLButtonElement, isEnabled: boolean): void {
  button.setAttribute("aria-disabled", String(!isEnabled));
}

/** Runs `action` when the button is pressed while it is enabled. */
export function onPress(button: HTMLButtonElement, action: () => void): void {
  button.addEventListener("click", () => {
    if (button.getAttribute("aria-disabled") !== "true") action();
  });
}

/** A secondary button that runs `action`, or one that looks like the text around it. */
export function plainButton(
  text: string,
  action: () => void,
  className: "plain" | "bare" = "plain",
): HTMLButtonElement {
  const button = make("button", { type: "button", className, textContent: text });
  onPress(button, action);
  return button;
}

/** Hides `part`. If the focus was inside, it moves to `next`. */
export function hideKeepingFocus(part: HTMLElement, next: HTMLElement): void {
  const hadFocus = part.contains(document.activeElement);
  part.hidden = true;
  if (hadFocus) next.focus();
}
