// A presenter's clicker on the stage. It types Page Down and Page Up, and "b" or "." to blank the screen, as slide programs expect.

/** The keys that only change what others do. */
const modifiers = new Set(["Shift", "Control", "Alt", "AltGraph", "Meta", "CapsLock"]);

export interface ClickerActions {
  isOn: () => boolean;
  /** Page Down. */
  goOn: () => void;
  /** Page Up. */
  goBack: () => void;
  blank: (isBlank: boolean) => void;
}

/**
 * Listens for a clicker while `isOn`. "b" and "." are its keys until something else is typed, and again after Page Down or Page Up:
 * in between they go into the text. Returns what to call when the stage opens.
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
      setBlank(false); // any key shows the text again, and does only that
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

  // Before the editor, which would move the caret or type the letter.
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
