// Loading the model, and loading it again after a failure, a cancel or the death of its worker.
import {
  InvalidArgumentError,
  loadModel,
  type LoadProgress,
  type Model,
  type Variant,
} from "../src/client/index.js";
import { hide } from "./buttons.js";
import { textToCaret } from "./editor/surface.js";
import { elements as ui } from "./elements.js";
import { formatLeft } from "./format.js";
import type { ChosenModel } from "./chosen-model.js";
import { afterLoad, firstModel, modelFetch, prepareHost, storesModel } from "./host.js";
import { hideError, isAbort, messageOf, showError } from "./messages.js";
import { options } from "./options.js";
import { formatBytes, formatLarge } from "./language/numbers.js";
import { phrase } from "./language/start.js";

// ?model=FOLDER shows another model; ?variant= and ?threads= force what is otherwise detected.
const query = new URLSearchParams(location.search);
/** After so long without a byte the page says so; slow connections still bring some. */
const stallMs = 15_000;

let chosen: ChosenModel = firstModel;
let model: Model | undefined;
let underWay: Promise<Model | undefined> | undefined;
let controller: AbortController | undefined;
let stallTimer: ReturnType<typeof setTimeout> | undefined;

/** Asks the page's reader for the model that its address names; undefined once that is answered. */
let askFirst: (() => void) | undefined;

/** Loads nothing, but asks, until another model or this one is chosen. */
export function awaitChoice(ask: () => void): void {
  askFirst = ask;
  ui.loading.hidden = true;
  ask();
}

/** The model, which is loaded if there is none; undefined where that failed or was cancelled, which the page then says. */
export function needModel(): Promise<Model | undefined> {
  if (model) return Promise.resolve(model);
  if (askFirst) {
    askFirst();
    return Promise.resolve(undefined);
  }
  underWay ??= load().finally(() => (underWay = undefined));
  return underWay;
}

export function hasModel(): boolean {
  return model !== undefined;
}

/** The model that is loaded, if one is. */
export const currentModel = () => model;

/** Bytes of the model's weights that came, by where from. */
let traffic = { network: 0, cache: 0 };
export const modelTraffic = () => traffic;

const waiting: (() => void)[] = [];

/** Resolves when there is a model, which somebody else asks for. */
export function whenModel(): Promise<void> {
  return model ? Promise.resolve() : new Promise((loaded) => waiting.push(loaded));
}

const watching = new Set<() => void>();

/**
 * Calls `listener` when there is another model, or none while another comes: what the old one said holds no longer.
 * What it gives ends that.
 */
export function onModelChange(listener: () => void): () => void {
  watching.add(listener);
  return () => watching.delete(listener);
}

function tellChange(): void {
  for (const tell of watching) tell();
}

/** For a model whose worker died: the next one who needs it loads it again. */
export function forgetModel(): void {
  model = undefined;
}

export const chosenModel = () => chosen;

/** Lets `next` take the place of the model that there is, whose memory is given back first. */
export async function changeModel(next: ChosenModel): Promise<void> {
  chosen = next;
  askFirst = undefined;
  controller?.abort();
  await underWay;
  const old = model;
  model = undefined;
  tellChange();
  await old?.dispose();
  if (chosen === next) await needModel(); // else it has been changed again meanwhile
}

export function cancelLoading(): void {
  controller?.abort();
}

function showStage(stage: string): void {
  if (ui.loadingStage.textContent !== stage) ui.loadingStage.textContent = stage;
}

function watchForStall(): void {
  clearTimeout(stallTimer);
  stallTimer = setTimeout(() => {
    showStage(phrase("stalled"));
  }, stallMs);
}

function showProgress(progress: LoadProgress): void {
  const { loadedBytes, totalBytes, bytesPerSecond, secondsLeft, retry } = progress;
  if (retry !== undefined) showStage(phrase("retry", { why: retry }));
  else showStage(phrase(totalBytes > 0 ? "loading" : "startingEngine"));
  watchForStall();
  if (totalBytes === 0) return;
  ui.loadingProgress.value = loadedBytes / totalBytes;
  const bytes = { loaded: formatBytes(loadedBytes), total: formatBytes(totalBytes) };
  ui.loadingBytes.textContent =
    bytesPerSecond > 0 && secondsLeft
      ? phrase("pace", { ...bytes, rate: formatBytes(bytesPerSecond), time: formatLeft(secondsLeft) })
      : phrase("progress", bytes);
}

/** What is known of the model; it can change while it works, as when a thread is lost. */
export function showModel(): void {
  if (!model) return;
  const { info } = model;
  ui.engine.textContent = phrase("engine", { variant: info.variant, count: info.threads });
  const count = phrase("count", { value: formatLarge(info.parameters) });
  ui.model.textContent = phrase("model", { count, weights: info.weights });
  ui.memory.textContent = formatBytes(info.memoryBytes);
  const unstored = info.notStored && phrase("notStored", { why: info.notStored });
  const notices = [info.notice, unstored].filter((text) => text !== null);
  ui.notice.textContent = notices.join(" ");
  ui.notice.hidden = notices.length === 0;
}

function showFailure(error: unknown): void {
  const tryAgain = { label: phrase("tryAgain"), run: () => void needModel() };
  const canReset = location.search !== "";
  if (isAbort(error)) showError(phrase("cancelled"), tryAgain);
  // Trying again cannot help: only the address, or what was picked, is to blame.
  else if (error instanceof InvalidArgumentError && chosen !== firstModel)
    showError(phrase("notLoaded", { why: messageOf(error) }));
  else if (error instanceof InvalidArgumentError)
    showError(phrase("badAddress", { address: location.search, why: messageOf(error) }), undefined, {
      canReset,
    });
  else showError(phrase("notLoaded", { why: messageOf(error) }), tryAgain, { canReset });
}

async function load(): Promise<Model | undefined> {
  controller = new AbortController();
  const { signal } = controller;
  showStage(phrase("starting"));
  ui.loadingBytes.textContent = "";
  ui.loadingProgress.removeAttribute("value");
  ui.loading.classList.remove("later");
  ui.loading.hidden = false;
  hideError(ui.loadingCancel);
  watchForStall();
  try {
    await prepareHost(signal);
    const threads = query.get("threads");
    const loading = chosen;
    const came = { network: 0, cache: 0 };
    let told = 0;
    model = await loadModel(loading.source, {
      signal,
      prompt: textToCaret(),
      fetch: modelFetch,
      weights: loading.weights,
      cache: storesModel(loading),
      threads: threads === null ? undefined : Number(threads),
      variant: (query.get("variant") ?? undefined) as Variant | undefined, // checked by loadModel
      onProgress: (progress) => {
        came[progress.source] += Math.max(0, progress.loadedBytes - told);
        told = progress.loadedBytes;
        if (!signal.aborted) showProgress(progress);
      },
    });
    traffic = came;
    showModel();
    options.showDefaults(model.info.defaults);
    afterLoad(loading);
    hide(ui.loading, ui.generate);
    for (const tell of waiting.splice(0)) tell();
    tellChange();
  } catch (error) {
    showFailure(error);
    hide(ui.loading, ui.errorRepair.hidden ? ui.errorReset : ui.errorRepair);
  } finally {
    clearTimeout(stallTimer);
  }
  return model;
}
