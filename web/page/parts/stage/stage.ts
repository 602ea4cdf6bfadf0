// Stage mode: the text alone, in large type, for a projector. All writing keys work in it.
import type { Editor } from "../../document/editor.js";
import { listenForClicker } from "./clicker.js";
import "./stage.css";

/** Supported by some browsers. In full screen, the page then receives Escape first, which it needs. */
interface KeyboardLock {
  keyboard?: { lock?: (keys: readonly string[]) => Promise<void>; unlock?: () => void };
}

/**
 * Frames can refuse full screen, and phones lack it: the mode works without it. The visitor may leave the mode before
 * full screen is granted.
 */
async function fillScreen(isOn: () => boolean): Promise<void> {
  const { keyboard } = navigator as KeyboardLock;
  try {
    await document.documentElement.requestFullscreen();
    if (!isOn()) return void document.exitFullscreen().catch(() => undefined);
    await keyboard?.lock?.(["Escape"]);
    if (!isOn()) keyboard?.unlock?.();
  } catch {
    // Without the lock, Escape leaves full screen.
  }
}

export interface StageSetting {
  enter: HTMLButtonElement;
  leave: HTMLButtonElement;
  editor: Pick<Editor, "undo" | "redo" | "canRedo" | "focus" | "showCaret"> & {
    view: Pick<Editor["view"], "requestMeasure">;
  };
  /** Lets the model continue at the end of the text. */
  goOn: () => void;
}

/** The button or Alt + Enter starts the mode. Escape, the mode's own button or the end of full screen leaves it. */
export function offerStage({ enter, leave, editor, goOn }: StageSetting): void {
  const { classList } = document.documentElement;
  const isOn = () => classList.contains("stage");
  const beginPresenting = listenForClicker({
    isOn,
    goOn: () => (editor.canRedo ? editor.redo() : goOn()),
    goBack: () => editor.undo(),
    blank: (isBlank) => classList.toggle("blank", isBlank),
  });

  function show(isStage: boolean): void {
    if (isStage === isOn()) return;
    classList.toggle("stage", isStage);
    beginPresenting();
    leave.hidden = !isStage;
    editor.view.requestMeasure(); // the lines wrap differently now
    editor.focus();
    editor.showCaret();
    if (isStage) return void fillScreen(isOn);
    (navigator as KeyboardLock).keyboard?.unlock?.();
    if (document.fullscreenElement) void document.exitFullscreen().catch(() => undefined);
  }

  enter.classList.remove("later");
  enter.addEventListener("click", () => show(true));
  leave.addEventListener("click", () => show(false));
  document.addEventListener("fullscreenchange", () => {
    if (!document.fullscreenElement) show(false);
  });
  document.addEventListener("keydown", (event) => {
    if (event.isComposing || event.repeat || document.querySelector("dialog[open]")) return;
    if (event.key === "Enter" && event.altKey && !event.ctrlKey && !event.metaKey) {
      event.preventDefault();
      show(!isOn());
    }
    // Other handlers of Escape have called preventDefault.
    if (event.key === "Escape" && isOn() && !event.defaultPrevented) show(false);
  });
}
