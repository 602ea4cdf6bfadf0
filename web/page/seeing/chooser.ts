// How the text is shown, to choose from, and what its tints mean.
import type { EditorView } from "@codemirror/view";
import { setAttended } from "./attended.js";
import { bands, modes, setMode, type Mode } from "./view-mode.js";

const names: Readonly<Record<Mode, string>> = {
  text: "Text",
  probability: "Probability",
  tokens: "Tokens",
  inside: "Inside",
};

const sentences: Readonly<Record<Mode, string>> = {
  text: "",
  probability: "How probable each token was to the model, given what stands before it.",
  tokens: "How the text is cut into tokens: the pieces that the model reads and writes.",
  inside: "",
};

function legendOf(mode: Mode): Node[] {
  const sentence = document.createElement("span");
  sentence.textContent = sentences[mode];
  if (mode !== "probability") return [sentence];
  const swatches = bands.map(({ name }, band) => {
    const swatch = document.createElement("span");
    swatch.className = `token band-${band}`;
    swatch.textContent = name;
    return swatch;
  });
  return [sentence, ...swatches];
}

/** Fills `select` with the views, and `legend` with what is to be said of the one that is chosen; `scored` stays its end. */
export function offerViews(
  select: HTMLSelectElement,
  legend: HTMLElement,
  scored: HTMLElement,
  view: EditorView,
): void {
  select.append(...modes.map((mode) => new Option(names[mode], mode)));
  select.hidden = false;
  select.addEventListener("change", () => {
    const mode = modes.find((each) => each === select.value) ?? "text";
    legend.replaceChildren(...legendOf(mode), scored);
    legend.hidden = sentences[mode] === ""; // inside the model, the panel says all that is to be said
    view.dispatch({ effects: [setMode.of(mode), setAttended.of(null)] });
  });
}
