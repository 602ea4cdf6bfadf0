// How far a model's loading has come, as the page shows it.
import type { LoadProgress } from "../../../src/client/index.js";
import { elements as ui } from "../../dom/elements.js";
import { formatLeft } from "../../language/format.js";
import { formatBytes } from "../../language/numbers.js";
import { phrase } from "../../language/start.js";
import { put } from "../../language/told.js";

/** After so long without a byte the page says so; slow connections still bring some. */
const stallMs = 15_000;

let stallTimer: ReturnType<typeof setTimeout> | undefined;
/** Which loading is shown: the last that began. */
let shown = 0;

/** Shows that one begins, as `stage`. Gives what is to be called when nothing more of it comes. */
export function beginProgress(stage: () => string): () => void {
  const mine = (shown += 1);
  showStage(stage);
  ui.loadingBytes.textContent = "";
  ui.loadingProgress.removeAttribute("value");
  ui.loading.classList.remove("later");
  ui.loading.hidden = false;
  watchForStall();
  return () => {
    if (shown === mine) clearTimeout(stallTimer);
  };
}

const showStage = (stage: () => string): void => put(ui.loadingStage, stage);

function watchForStall(): void {
  clearTimeout(stallTimer);
  stallTimer = setTimeout(() => {
    showStage(() => phrase("stalled"));
  }, stallMs);
}

/** Shows it as `stage`, or in its own words. */
export function showProgress(progress: LoadProgress, stage: (() => string) | undefined): void {
  const { loadedBytes, totalBytes, bytesPerSecond, secondsLeft, retry } = progress;
  if (retry !== undefined) showStage(() => phrase("retry", { why: retry }));
  else showStage(stage ?? (() => phrase(totalBytes > 0 ? "loading" : "startingEngine")));
  watchForStall();
  if (totalBytes === 0) return;
  ui.loadingProgress.value = loadedBytes / totalBytes;
  const bytes = { loaded: formatBytes(loadedBytes), total: formatBytes(totalBytes) };
  ui.loadingBytes.textContent =
    bytesPerSecond > 0 && secondsLeft
      ? phrase("pace", { ...bytes, rate: formatBytes(bytesPerSecond), time: formatLeft(secondsLeft) })
      : phrase("progress", bytes);
}
