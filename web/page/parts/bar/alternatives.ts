// The buttons, keys and swipes that switch between the alternatives at one place. Mounted with the editor.
import type { Editor } from "../../document/editor.js";
import { hideKeepingFocus, onPress, setEnabled } from "../../dom/buttons.js";
import type { Elements } from "../../dom/elements.js";
import { listenForSwipes } from "../../dom/swipe.js";
import { phrase } from "../../language/editor.js";
import { setTranslatedText } from "../../language/keep-translated.js";
import type { PageState } from "../../state/page-state.js";

type AlternativesElements = Pick<
  Elements,
  "alternatives" | "alternative" | "earlier" | "later" | "generate" | "editor"
>;

type AlternativesEditor = Pick<Editor, "alternative" | "showAlternative">;

/** While another alternative is written, the buttons keep their places. */
function show(
  ui: AlternativesElements,
  isBusy: boolean,
  { alternative: now }: Pick<Editor, "alternative">,
): void {
  for (const button of [ui.earlier, ui.later]) setEnabled(button, !isBusy && now !== undefined);
  if (!now) {
    if (!isBusy) hideKeepingFocus(ui.alternatives, ui.generate);
    return;
  }
  ui.alternatives.hidden = false;
  setTranslatedText(ui.alternative, () => phrase("alternative", { place: now.place + 1, count: now.count }));
}

export function offerAlternatives(
  ui: AlternativesElements,
  state: PageState,
  editor: AlternativesEditor,
): void {
  const isBusy = () => state.activity.peek().kind === "writing";

  /** Shows the next or previous alternative; returns false if there is none. */
  function step(by: 1 | -1): boolean {
    if (isBusy() || !editor.showAlternative(by)) return false;
    const { place, count } = editor.alternative ?? { place: 0, count: 0 };
    state.sayOfText(() => phrase("alternativeShown", { place: place + 1, count }));
    return true;
  }

  onPress(ui.earlier, () => void step(-1));
  onPress(ui.later, () => void step(1));
  ui.alternatives.addEventListener("keydown", ({ key }) => {
    if (key !== "ArrowLeft" && key !== "ArrowRight") return;
    (key === "ArrowLeft" ? ui.earlier : ui.later).focus();
    step(key === "ArrowLeft" ? -1 : 1);
  });
  document.addEventListener("keydown", (event) => {
    const by = ({ PageUp: -1, PageDown: 1 } as const)[event.key];
    if (!by || !event.altKey || event.isComposing || document.querySelector("dialog[open]")) return;
    if (step(by)) event.preventDefault();
  });
  listenForSwipes(ui.editor, (by) => void step(by));
  const showNow = () => show(ui, isBusy(), editor);
  state.text.subscribe(showNow);
  state.activity.subscribe(showNow);
}
