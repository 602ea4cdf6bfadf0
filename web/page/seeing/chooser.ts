// How the text is shown, to choose from, and what its tints mean.
import type { EditorView } from "@codemirror/view";
import { setAttended } from "./attended.js";
import { bands, modes, setMode, type Mode } from "./view-mode.js";
import { phrase } from "../language/editor.js";

function legendOf(mode: Mode): Node[] {
  if (mode === "text" || mode === "inside") return []; // inside the model, the panel says all that is to be said
  const sentence = document.createElement("span");
  sentence.textContent = phrase(`view.${mode}.help`);
  if (mode !== "probability") return [sentence];
  const swatches = bands.map((band) => {
    const swatch = document.createElement("span");
    swatch.className = `token band-${band}`;
    swatch.textContent = phrase(`band.${band}`);
    return swatch;
  });
  const onPaper = document.createElement("span");
  onPaper.className = "on-paper";
  onPaper.textContent = phrase("view.probability.print");
  return [sentence, ...swatches, onPaper];
}

/** Offers the views of `select`, and fills `legend` with what is to be said of the one that is chosen; `scored` stays its end. */
export function offerViews(
  select: HTMLSelectElement,
  legend: HTMLElement,
  scored: HTMLElement,
  view: EditorView,
): void {
  select.classList.remove("later");
  select.addEventListener("change", () => {
    const mode = modes.find((each) => each === select.value) ?? "text";
    const said = legendOf(mode);
    legend.replaceChildren(...said, scored);
    legend.hidden = said.length === 0;
    view.dispatch({ effects: [setMode.of(mode), setAttended.of(null)] });
  });
}
