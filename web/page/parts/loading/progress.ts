// Shows the progress of a model's load, and the model that waits to be used.
import type { LoadProgress } from "../../../src/client/index.js";
import { hideKeepingFocus, onPress } from "../../dom/buttons.js";
import type { Elements } from "../../dom/elements.js";
import { formatLeft } from "../../language/format.js";
import { formatBytes } from "../../language/numbers.js";
import { phrase } from "../../language/start.js";
import { setTranslatedText } from "../../language/keep-translated.js";
import { onChange, type ComingModel, type PageState } from "../../state/page-state.js";

/** After this long without a byte the page shows a message; slow connections still deliver some. */
const stallMs = 15_000;

type LoadingElements = Pick<
  Elements,
  | ("loading" | "loadingStage" | "loadingBytes" | "loadingProgress" | "loadingCancel")
  | ("arrival" | "arrivalText" | "arrivalUse" | "generate" | "errorRepair" | "errorReset")
>;

function showBytes(ui: LoadingElements, latest: LoadProgress | undefined): void {
  if (!latest) {
    ui.loadingBytes.textContent = "";
    ui.loadingProgress.removeAttribute("value");
    return;
  }
  const { loadedBytes, totalBytes, bytesPerSecond, secondsLeft } = latest;
  if (totalBytes === 0) return;
  ui.loadingProgress.value = loadedBytes / totalBytes;
  const bytes = { loaded: formatBytes(loadedBytes), total: formatBytes(totalBytes) };
  ui.loadingBytes.textContent =
    bytesPerSecond > 0 && secondsLeft
      ? phrase("pace", { ...bytes, time: formatLeft(secondsLeft) })
      : phrase("progress", bytes);
}

/** Where the focus moves from the progress: to the button of an error, if there is one. */
function nextFocus(ui: LoadingElements, { problem }: PageState): HTMLElement {
  const { value } = problem;
  if (!value) return ui.generate;
  return value.repair ? ui.errorRepair : ui.errorReset;
}

function showWaiting(ui: LoadingElements, coming: ComingModel): void {
  if (coming.kind !== "waiting") return hideKeepingFocus(ui.arrival, ui.generate);
  setTranslatedText(ui.arrivalText, coming.sentence);
  ui.arrivalUse.onclick = coming.use;
  ui.arrival.hidden = false;
}

export function showLoading(ui: LoadingElements, state: PageState, cancel: () => void): void {
  let stallTimer: ReturnType<typeof setTimeout> | undefined;
  onChange(state.coming, (coming) => {
    clearTimeout(stallTimer);
    showWaiting(ui, coming);
    if (coming.kind !== "loading") return hideKeepingFocus(ui.loading, nextFocus(ui, state));
    stallTimer = setTimeout(() => setTranslatedText(ui.loadingStage, () => phrase("stalled")), stallMs);
    setTranslatedText(ui.loadingStage, coming.stage);
    showBytes(ui, coming.latest);
    ui.loading.classList.remove("later");
    ui.loading.hidden = false;
  });
  onPress(ui.loadingCancel, cancel);
}
