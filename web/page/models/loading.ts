// Loads the model, and loads it again after a failure, a cancellation or the death of its worker.
import { InvalidArgumentError, loadModel, type Model, type Variant } from "../../src/client/index.js";
import { phrase } from "../language/start.js";
import { isAbort } from "../state/errors.js";
import type { ChosenModel, PageState, Traffic } from "../state/page-state.js";
import { isSameModel } from "./model-address.js";
import { afterLoad, modelFetch, prepareHost, storesModel } from "./host.js";
import type { NextModel } from "./next-model.js";

/** A model of more bytes is disposed of before another one loads; a smaller one keeps writing in the meantime. */
const mostBeside = 300e6;

/** A loaded model, and its weights' bytes by origin. */
interface Loaded {
  chosen: ChosenModel;
  model: Model;
  traffic: Traffic;
}

/** Another model that is loading, or waits to be used, while this one writes. */
interface NextLoad {
  controller: AbortController;
  there: Promise<NextModel<Loaded>>;
}

export class Loading {
  private readonly state: PageState;
  private readonly textToCaret: () => string;
  /** Belongs to the last load. */
  private controller: AbortController | undefined;
  private beside: NextLoad | undefined;

  /** `textToCaret` returns the text that a model would continue. */
  constructor(state: PageState, textToCaret: () => string) {
    this.state = state;
    this.textToCaret = textToCaret;
  }

  /** Loads nothing, but calls `ask`, until this or another model is chosen. */
  awaitChoice(ask: () => void): void {
    this.state.model.value = { kind: "unconfirmed", ask };
    this.state.endLoading();
    ask();
  }

  /**
   * The model, which is loaded first if necessary. undefined if that failed or was cancelled, which the page then
   * reports.
   */
  readonly need = (): Promise<Model | undefined> => {
    const now = this.state.model.peek();
    if (now.kind === "ready") return Promise.resolve(now.model);
    if (this.beside)
      return this.useBeside(this.beside)
        .catch(() => undefined)
        .then(this.need);
    if (now.kind === "loading") return now.coming;
    if (now.kind === "unconfirmed") {
      now.ask();
      return Promise.resolve(undefined);
    }
    return this.load();
  };

  /** Resolves when a model is loaded, which another caller requests. */
  whenReady(): Promise<void> {
    return new Promise((resolve) => {
      const end = this.state.loaded.subscribe((model) => {
        if (!model) return;
        resolve();
        queueMicrotask(() => end());
      });
    });
  }

  /** Call this when the model's worker has died: the next request loads the model again. */
  forget(): void {
    this.state.model.value = { kind: "none" };
  }

  /**
   * Replaces the current model by `next`. A small model replaces it when it has loaded or, if the text was changed
   * meanwhile, when the visitor agrees. For a large one, the memory of the current model is freed first. The current
   * model stays unchanged until then. `placed` is called when the new one is the page's.
   */
  async change(next: ChosenModel, placed: () => void): Promise<void> {
    const { state } = this;
    if (state.model.peek().kind === "unconfirmed") state.model.value = { kind: "none" };
    this.forgetBeside();
    const model = state.loaded.peek();
    if (model) {
      this.controller?.abort(); // cancels a model that is about to replace the current one
      if (isSameModel(next, state.chosen.peek())) return state.endLoading();
      if (model.info.memoryBytes <= mostBeside) return this.bringBeside(next, placed);
    }
    void this.stopWriting();
    state.chosen.value = next;
    placed();
    this.controller?.abort();
    const before = state.model.peek();
    if (before.kind === "loading") await before.coming;
    const old = state.loaded.peek();
    if (old) state.model.value = { kind: "none" };
    await old?.dispose();
    if (state.chosen.peek() === next) await this.need(); // otherwise the model was changed again in the meantime
  }

  readonly cancel = (): void => (this.beside?.controller ?? this.controller)?.abort();

  private async stopWriting(): Promise<void> {
    const activity = this.state.activity.peek();
    if (activity.kind === "writing") await activity.stop();
  }

  /** Uses the waiting model if the current one is gone. */
  private async useBeside(waited: NextLoad): Promise<void> {
    try {
      const other = await waited.there;
      await other.coming;
      await other.use();
    } finally {
      this.endBeside(waited);
    }
  }

  /** Ends the load or the wait of `mine`. */
  private endBeside(mine: NextLoad): void {
    if (this.beside === mine) this.beside = undefined;
  }

  private forgetBeside(): void {
    const old = this.beside;
    if (!old) return;
    this.endBeside(old);
    old.controller.abort();
    old.there.then(
      (other) => other.forget(),
      () => undefined, // reported where it was requested
    );
  }

  /** Loads `next` while the current model keeps writing. */
  private async bringBeside(next: ChosenModel, placed: () => void): Promise<void> {
    const { state } = this;
    const before = state.text.peek();
    const controller = (this.controller = new AbortController());
    const { signal } = controller;
    const there = import("./next-model.js").then(
      ({ NextModel }) =>
        new NextModel<Loaded>(state, next, {
          fetch: (stage) => this.fetch(next, signal, stage),
          mayReplace: () =>
            state.loaded.peek() === undefined ||
            (state.text.peek() === before && state.activity.peek().kind === "idle"),
          replace: async (loaded) => {
            this.endBeside(mine);
            if (state.loaded.peek()) await this.stopWriting(); // without one, the text already waits for this model
            if (signal.aborted) return loaded.model.dispose(); // another one was chosen in the meantime
            const old = state.loaded.peek();
            this.place(loaded);
            placed();
            await old?.dispose();
          },
          ended: () => this.endBeside(mine),
          tryAgain: () => void this.change(next, placed),
        }),
    );
    const mine = (this.beside = { controller, there });
    try {
      const other = await there;
      await other.coming;
    } catch (error) {
      this.endBeside(mine);
      state.showError((why) => phrase("notLoaded", { why }), error); // its code could not be fetched
    }
  }

  private showFailure(error: unknown): void {
    const { state } = this;
    const tryAgain = { label: () => phrase("tryAgain"), run: () => void this.need() };
    if (isAbort(error)) return state.showError(() => phrase("cancelled"), undefined, tryAgain);
    const isWrong = error instanceof InvalidArgumentError; // a retry cannot help
    const isPicked = isWrong && state.chosen.peek() !== state.first;
    const address = location.search;
    state.showError(
      (why) => (isWrong && !isPicked ? phrase("badAddress", { address, why }) : phrase("notLoaded", { why })),
      error,
      isWrong ? undefined : tryAgain,
      !isPicked && address !== "",
    );
  }

  /** Loads the model and shows the progress, with `stage` or its own words. */
  private async fetch(chosen: ChosenModel, signal: AbortSignal, stage?: () => string): Promise<Loaded> {
    const { state } = this;
    state.coming.value = { kind: "loading", stage: stage ?? (() => phrase("starting")) };
    state.hideError();
    if (chosen.problem) throw new InvalidArgumentError("invalid-argument", chosen.problem());
    await prepareHost(signal);
    // ?variant= and ?threads= override the automatic choice.
    const query = new URLSearchParams(location.search);
    const threads = query.get("threads");
    const traffic = { network: 0, cache: 0 };
    let counted = 0;
    const model = await loadModel(chosen.source, {
      signal,
      prompt: this.textToCaret(),
      fetch: modelFetch,
      weights: chosen.weights,
      cache: storesModel(chosen),
      // The host may redirect its own demo model. A model that a link names may not be redirected to another host.
      redirect: chosen.folder !== undefined && storesModel(chosen) ? "error" : "follow",
      threads: threads === null ? undefined : Number(threads),
      variant: (query.get("variant") ?? undefined) as Variant | undefined, // validated by loadModel
      onProgress: (latest) => {
        traffic[latest.source] += Math.max(0, latest.loadedBytes - counted);
        counted = latest.loadedBytes;
        if (signal.aborted) return;
        const { retry, totalBytes } = latest;
        const said = stage ?? (() => phrase(totalBytes > 0 ? "loading" : "startingEngine"));
        state.coming.value = {
          kind: "loading",
          stage: retry === undefined ? said : () => phrase("retry"),
          latest,
        };
      },
    });
    if (signal.aborted) void model.dispose(); // cancelled at the last moment
    signal.throwIfAborted();
    return { chosen, model, traffic };
  }

  /** Makes it the page's model. */
  private place({ chosen, model, traffic }: Loaded): void {
    this.state.chosen.value = chosen;
    this.state.model.value = { kind: "ready", model, traffic };
    afterLoad(chosen);
  }

  private load(): Promise<Model | undefined> {
    const { state } = this;
    const { signal } = (this.controller = new AbortController());
    const coming = this.fetch(state.chosen.peek(), signal)
      .then((loaded) => {
        this.place(loaded);
        return loaded.model;
      })
      .catch((error: unknown) => {
        state.model.value = { kind: "none" };
        this.showFailure(error);
        return undefined;
      })
      .finally(() => state.endLoading());
    state.model.value = { kind: "loading", coming };
    return coming;
  }
}
