// Stage mode: the text alone, in large type, for a projector. All keys of writing work in it.
import type { Editor } from "../../document/editor.js";
import { listenForClicker } from "./clicker.js";

/** As far as browsers have it: in full screen, Escape comes to the page first, which has uses for it. */
interface KeyboardLock {
  keyboard?: { lock?: (keys: readonly string[]) => Promise<void>; unlock?: () => void };
}

/** Refused by frames, and not there on phones: the mode is the same without it. One may have left before it is granted. */
async function fillScreen(isOn: () => boolean): Promise<void> {
  const { keyboard } = navigator as KeyboardLock;
  try {
    await document.documentElement.requestFullscreen();
    if (!isOn()) return void document.exitFullscreen().catch(() => undefined);
    await keyboard?.lock?.(["Escape"]);
    if (!isOn()) keyboard?.unlock?.();
  } catch {
    // As above.
  }
}

export interface StageSetting {
  enter: HTMLButtonElement;
  leave: HTMLButtonElement;
  editor: Editor;
  /** Lets the model write at the end of the text. */
  goOn: () => void;
}

/** Offers the mode by its button and by Alt + Enter; Escape, its own button or the end of the full screen leave it. */
export function offerStage({ enter, leave, editor, goOn }: StageSetting): void {
  const { classList } = document.documentElement;
  const isOn = () => classList.contains("stage");
  const beginPresenting = listenForClicker({
    isOn,
    goOn,
    goBack: () => editor.undo(),
    blank: (isBlank) => classList.toggle("blank", isBlank),
  });

  function show(isStage: boolean): void {
    if (isStage === isOn()) return;
    classList.toggle("stage", isStage);
    beginPresenting();
    leave.hidden = !isStage;
    editor.view.requestMeasure(); // the lines are others
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
    // Whatever else Escape stopped has prevented its default.
    if (event.key === "Escape" && isOn() && !event.defaultPrevented) show(false);
  });
}
