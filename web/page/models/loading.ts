// Loading the model, and loading it again after a failure, a cancel or the death of its worker.
import { InvalidArgumentError, loadModel, type Model, type Variant } from "../../src/client/index.js";
import { hide } from "../dom/buttons.js";
import { onTextChange, textToCaret } from "../document/surface.js";
import { elements as ui } from "../dom/elements.js";
import { isSameModel, type ChosenModel } from "./chosen-model.js";
import { afterLoad, firstModel, modelFetch, prepareHost, storesModel } from "./host.js";
import { hideError, showError } from "../state/messages.js";
import { isAbort, messageOf } from "../state/errors.js";
import type { NextModel } from "./next-model.js";
import { beginProgress, showProgress } from "../parts/loading/progress.js";
import { options } from "../parts/options/options.js";
import { formatBytes, formatLarge } from "../language/numbers.js";
import { phrase } from "../language/start.js";

// ?model=FOLDER shows another model; ?variant= and ?threads= force what is otherwise detected.
const query = new URLSearchParams(location.search);
/** A model that takes more gives its memory back before another one comes; one that takes less writes on meanwhile. */
const mostBeside = 300e6;

/** A model that is loaded, and its weights' bytes by where they came from. */
interface Loaded {
  chosen: ChosenModel;
  model: Model;
  traffic: { network: number; cache: number };
}

/** What a change of the model does to the page around it. */
export interface Change {
  /** Ends what is written. */
  stop: () => Promise<void>;
  /** Whether something is written, though no token of it may have come yet. */
  isBusy: () => boolean;
  /** The new model is the page's. */
  placed: () => void;
}

let chosen: ChosenModel = firstModel;
let model: Model | undefined;
let underWay: Promise<Model | undefined> | undefined;
/** How many are being fetched. */
let fetching = 0;
let controller: AbortController | undefined;
/** Another model that comes, or waits to be used, while this one writes. */
let beside: { next: ChosenModel; controller: AbortController; there: Promise<NextModel<Loaded>> } | undefined;

/** Asks the page's reader for the model that its address names; undefined once that is answered. */
let askToChoose: (() => void) | undefined;

/** Loads nothing, but asks, until another model or this one is chosen. */
export function awaitChoice(ask: () => void): void {
  askToChoose = ask;
  ui.loading.hidden = true;
  ask();
}

/** The model, which is loaded if there is none; undefined where that failed or was cancelled, which the page then says. */
export function needModel(): Promise<Model | undefined> {
  if (model) return Promise.resolve(model);
  if (beside)
    return useBeside(beside.there)
      .catch(() => undefined)
      .then(needModel);
  if (askToChoose) {
    askToChoose();
    return Promise.resolve(undefined);
  }
  underWay ??= load().finally(() => (underWay = undefined));
  return underWay;
}

export function hasModel(): boolean {
  return model !== undefined;
}

export const isLoading = () => fetching > 0;

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

/**
 * Lets `next` take the place of the model that there is: of a small one when it has come, and, where the text was changed
 * meanwhile, when the page's reader says so; the memory of a large one is given back first. The model that there is already
 * stays as it is.
 */
export async function changeModel(next: ChosenModel, change: Change): Promise<void> {
  askToChoose = undefined;
  forgetBeside();
  if (model) {
    controller?.abort(); // of one that is about to take the place
    if (isSameModel(next, chosen)) return hide(ui.loading, ui.generate);
    if (model.info.memoryBytes <= mostBeside) return bringBeside(next, change);
  }
  void change.stop();
  chosen = next;
  change.placed();
  controller?.abort();
  await underWay;
  const old = model;
  model = undefined;
  tellChange();
  await old?.dispose();
  if (chosen === next) await needModel(); // else it has been changed again meanwhile
}

export function cancelLoading(): void {
  (beside?.controller ?? controller)?.abort();
}

/** For who needs a model where the one that wrote is gone. */
async function useBeside(there: Promise<NextModel<Loaded>>): Promise<void> {
  const waited = beside;
  try {
    const other = await there;
    await other.coming;
    await other.use();
  } finally {
    endBeside(waited);
  }
}

let textChanges = 0;
onTextChange(() => (textChanges += 1));

/** None comes any more, where that was `mine`. */
function endBeside(mine: typeof beside): void {
  if (!mine || beside !== mine) return;
  beside = undefined;
}

function forgetBeside(): void {
  const old = beside;
  endBeside(old);
  old?.controller.abort();
  old?.there.then(
    (other) => other.forget(),
    () => undefined, // said where it was asked for
  );
}

/** The model that writes goes on until `next` is there, or longer. */
async function bringBeside(next: ChosenModel, change: Change): Promise<void> {
  const before = textChanges;
  const { signal } = (controller = new AbortController());
  const there = import("./next-model.js").then(
    ({ NextModel }) =>
      new NextModel<Loaded>(
        { next, other: chosen.name },
        {
          fetch: (stage) => fetchModel(next, signal, stage),
          mayReplace: () => model === undefined || (textChanges === before && !change.isBusy()),
          replace: async (loaded) => {
            endBeside(mine);
            if (model) await change.stop(); // without one, what is written waits for this one
            if (signal.aborted) return loaded.model.dispose(); // another one was chosen meanwhile
            const old = model;
            place(loaded);
            change.placed();
            await old?.dispose();
          },
          ended: () => endBeside(mine),
          tryAgain: () => void changeModel(next, change),
        },
      ),
  );
  const mine = (beside = { next, controller, there });
  try {
    await (
      await there
    ).coming;
  } catch (error) {
    endBeside(mine);
    showError(() => phrase("notLoaded", { why: messageOf(error) })); // what brings it could not be fetched
  }
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
  const notices = [info.notice, unstored, ...info.warnings].filter((text) => text !== null);
  ui.notice.textContent = notices.join(" ");
  ui.notice.hidden = notices.length === 0;
}

function showFailure(error: unknown): void {
  const tryAgain = { label: () => phrase("tryAgain"), run: () => void needModel() };
  const canReset = location.search !== "";
  if (isAbort(error)) showError(() => phrase("cancelled"), tryAgain);
  // Trying again cannot help: only the address, or what was picked, is to blame.
  else if (error instanceof InvalidArgumentError && chosen !== firstModel)
    showError(() => phrase("notLoaded", { why: messageOf(error) }));
  else if (error instanceof InvalidArgumentError)
    showError(() => phrase("badAddress", { address: location.search, why: messageOf(error) }), undefined, {
      canReset,
    });
  else showError(() => phrase("notLoaded", { why: messageOf(error) }), tryAgain, { canReset });
}

/** Shows how far it is, as `stage` or in its own words. */
async function fetchModel(loading: ChosenModel, signal: AbortSignal, stage?: () => string): Promise<Loaded> {
  const endProgress = beginProgress(stage ?? (() => phrase("starting")));
  fetching += 1;
  hideError(ui.loadingCancel);
  try {
    if (loading.problem) throw new InvalidArgumentError("invalid-argument", loading.problem());
    await prepareHost(signal);
    const threads = query.get("threads");
    const came = { network: 0, cache: 0 };
    let told = 0;
    const loaded = await loadModel(loading.source, {
      signal,
      prompt: textToCaret(),
      fetch: modelFetch,
      weights: loading.weights,
      cache: storesModel(loading),
      // The host may redirect its own demo model. A model that a link names may not be redirected to another host.
      redirect: loading.folder !== undefined && storesModel(loading) ? "error" : "follow",
      threads: threads === null ? undefined : Number(threads),
      variant: (query.get("variant") ?? undefined) as Variant | undefined, // checked by loadModel
      onProgress: (progress) => {
        came[progress.source] += Math.max(0, progress.loadedBytes - told);
        told = progress.loadedBytes;
        if (!signal.aborted) showProgress(progress, stage);
      },
    });
    if (signal.aborted) void loaded.dispose(); // cancelled as it came
    signal.throwIfAborted();
    return { chosen: loading, model: loaded, traffic: came };
  } finally {
    fetching -= 1;
    endProgress();
  }
}

/** Makes it the page's. */
function place(loaded: Loaded): void {
  ({ chosen, model, traffic } = loaded);
  showModel();
  options.showDefaults(model.info.defaults);
  afterLoad(chosen);
  for (const tell of waiting.splice(0)) tell();
  tellChange();
}

async function load(): Promise<Model | undefined> {
  controller = new AbortController();
  try {
    place(await fetchModel(chosen, controller.signal));
    hide(ui.loading, ui.generate);
  } catch (error) {
    showFailure(error);
    hide(ui.loading, ui.errorRepair.hidden ? ui.errorReset : ui.errorRepair);
  }
  return model;
}
