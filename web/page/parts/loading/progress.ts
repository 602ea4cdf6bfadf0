// Shows the progress of a model's load, and the model that waits to be used.
import { hideKeepingFocus, onPress } from "../../dom/buttons.js";
import { elements as ui } from "../../dom/elements.js";
import { formatLeft } from "../../language/format.js";
import { formatBytes } from "../../language/numbers.js";
import { phrase } from "../../language/start.js";
import { setTranslatedText } from "../../language/keep-translated.js";
import { onChange, type Arrival, type LoadingShown, type PageState } from "../../state/page-state.js";

/** After this long without a byte the page shows a message; slow connections still deliver some. */
const stallMs = 15_000;

function showBytes({ latest }: LoadingShown): void {
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
function nextFocus({ problem }: PageState): HTMLElement {
  const { value } = problem;
  if (!value) return ui.generate;
  return value.repair ? ui.errorRepair : ui.errorReset;
}

function showArrival(arrival: Arrival | undefined): void {
  if (!arrival) return hideKeepingFocus(ui.arrival, ui.generate);
  setTranslatedText(ui.arrivalText, arrival.sentence);
  ui.arrivalUse.onclick = arrival.use;
  ui.arrival.hidden = false;
}

export function showLoading(state: PageState, cancel: () => void): void {
  let stallTimer: ReturnType<typeof setTimeout> | undefined;
  onChange(state.loading, (shown) => {
    clearTimeout(stallTimer);
    if (!shown) return hideKeepingFocus(ui.loading, nextFocus(state));
    stallTimer = setTimeout(() => setTranslatedText(ui.loadingStage, () => phrase("stalled")), stallMs);
    setTranslatedText(ui.loadingStage, shown.stage);
    showBytes(shown);
    ui.loading.classList.remove("later");
    ui.loading.hidden = false;
  });
  onChange(state.arrival, showArrival);
  onPress(ui.loadingCancel, cancel);
}
