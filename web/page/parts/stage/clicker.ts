// Supports a presenter's clicker in stage mode. A clicker sends Page Down and Page Up, and "b" or "." to blank the
// screen, as slide programs expect.

/** Modifier keys alone do nothing. */
const modifiers = new Set(["Shift", "Control", "Alt", "AltGraph", "Meta", "CapsLock"]);

export interface ClickerActions {
  isOn: () => boolean;
  /** Called for Page Down. */
  goOn: () => void;
  /** Called for Page Up. */
  goBack: () => void;
  blank: (isBlank: boolean) => void;
}

/**
 * Handles the clicker's keys while `isOn`. "b" and "." blank the screen until something else is typed, and again
 * after Page Down or Page Up. In between, they are typed into the text. Returns a function to call when the stage
 * opens.
 */
export function listenForClicker({ isOn, goOn, goBack, blank }: ClickerActions): () => void {
  let isPresenting = false;
  let isBlank = false;
  const setBlank = (to: boolean) => {
    if (to === isBlank) return;
    isBlank = to;
    blank(to);
  };

  function act(key: string): boolean {
    if (isBlank) {
      setBlank(false); // any key shows the text again and has no other effect
      return true;
    }
    if (key === "PageDown" || key === "PageUp") {
      isPresenting = true;
      if (key === "PageDown") goOn();
      else goBack();
      return true;
    }
    if (isPresenting && (key === "b" || key === ".")) {
      setBlank(true);
      return true;
    }
    isPresenting = false;
    return false;
  }

  // Captures the key before the editor, which would move the caret or insert the letter.
  document.addEventListener(
    "keydown",
    (event) => {
      if (!isOn() || event.isComposing || modifiers.has(event.key)) return;
      const isShortcut = event.ctrlKey || event.metaKey || event.altKey;
      if (isShortcut || document.querySelector("dialog[open]") || !act(event.key)) return;
      event.preventDefault();
      event.stopPropagation();
    },
    true,
  );
  document.addEventListener("pointerdown", () => setBlank(false), true);

  return () => {
    isPresenting = true;
    setBlank(false);
  };
}
