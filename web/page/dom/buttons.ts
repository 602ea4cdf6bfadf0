// Buttons that keep the focus. A button that is switched off or disappears never drops the focus to the body, where a
// keyboard user would have to begin again.

/** Switches a button on or off; unlike with `disabled`, one that has the focus keeps it. */
export function setEnabled(button: HTMLButtonElement, isEnabled: boolean): void {
  button.setAttribute("aria-disabled", String(!isEnabled));
}

/** Runs `action` when the button is pressed while it is switched on. */
export function onPress(button: HTMLButtonElement, action: () => void): void {
  button.addEventListener("click", () => {
    if (button.getAttribute("aria-disabled") !== "true") action();
  });
}

/** A button beside the main ones, which does `action`; or one that looks like the text around it. */
export function plainButton(
  text: string,
  action: () => void,
  className: "plain" | "bare" = "plain",
): HTMLButtonElement {
  const button = document.createElement("button");
  button.type = "button";
  button.className = className;
  button.textContent = text;
  onPress(button, action);
  return button;
}

/** Hides `part`; if the focus was inside, it goes to `next`. */
export function hideKeepingFocus(part: HTMLElement, next: HTMLElement): void {
  const hadFocus = part.contains(document.activeElement);
  part.hidden = true;
  if (hadFocus) next.focus();
}
