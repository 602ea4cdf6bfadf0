// Loading the model, and loading it again after a failure, a cancel or the death of its worker.
import { InvalidArgumentError, loadModel, type Model, type Variant } from "../../src/client/index.js";
import { phrase } from "../language/start.js";
import { isAbort, messageOf } from "../state/errors.js";
import type { ChosenModel, PageState, Traffic } from "../state/page-state.js";
import { isSameModel } from "./model-address.js";
import { afterLoad, modelFetch, prepareHost, storesModel } from "./host.js";
import type { NextModel } from "./next-model.js";

/** A model that takes more gives its memory back before another one comes; one that takes less writes on meanwhile. */
const mostBeside = 300e6;

/** A model that is loaded, and its weights' bytes by where they came from. */
interface Loaded {
  chosen: ChosenModel;
  model: Model;
  traffic: Traffic;
}

/** Another model that comes, or waits to be used, while this one writes. */
interface Beside {
  controller: AbortController;
  there: Promise<NextModel<Loaded>>;
}

export class Loading {
  private readonly state: PageState;
  private readonly textToCaret: () => string;
  /** Of the load that began last. */
  private controller: AbortController | undefined;
  private beside: Beside | undefined;

  /** `textToCaret` gives what a model would go on from. */
  constructor(state: PageState, textToCaret: () => string) {
    this.state = state;
    this.textToCaret = textToCaret;
  }

  /** Loads nothing, but asks, until another model or this one is chosen. */
  awaitChoice(ask: () => void): void {
    this.state.model.value = { kind: "unconfirmed", ask };
    this.state.loading.value = undefined;
    ask();
  }

  /**
   * The model, which is loaded first if necessary. Undefined if that failed or was cancelled, which the page then says.
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

  /** Resolves when there is a model, which somebody else asks for. */
  whenReady(): Promise<void> {
    return new Promise((resolve) => {
      const end = this.state.loaded.subscribe((model) => {
        if (!model) return;
        resolve();
        queueMicrotask(() => end());
      });
    });
  }

  /** For a model whose worker died: the next one who needs it loads it again. */
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
      this.controller?.abort(); // of one that is about to take the place
      if (isSameModel(next, state.chosen.peek())) return void (state.loading.value = undefined);
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
    if (state.chosen.peek() === next) await this.need(); // else it has been changed again meanwhile
  }

  readonly cancel = (): void => (this.beside?.controller ?? this.controller)?.abort();

  private async stopWriting(): Promise<void> {
    const activity = this.state.activity.peek();
    if (activity.kind === "writing") await activity.stop();
  }

  /** For who needs a model where the one that wrote is gone. */
  private async useBeside(waited: Beside): Promise<void> {
    try {
      const other = await waited.there;
      await other.coming;
      await other.use();
    } finally {
      this.endBeside(waited);
    }
  }

  /** None comes any more, where that was `mine`. */
  private endBeside(mine: Beside): void {
    if (this.beside === mine) this.beside = undefined;
  }

  private forgetBeside(): void {
    const old = this.beside;
    if (!old) return;
    this.endBeside(old);
    old.controller.abort();
    old.there.then(
      (other) => other.forget(),
      () => undefined, // said where it was asked for
    );
  }

  /** The model that writes goes on until `next` is there, or longer. */
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
            if (state.loaded.peek()) await this.stopWriting(); // without one, what is written waits for this one
            if (signal.aborted) return loaded.model.dispose(); // another one was chosen meanwhile
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
      state.showError(() => phrase("notLoaded", { why: messageOf(error) })); // what brings it could not be fetched
    }
  }

  private showFailure(error: unknown): void {
    const { state } = this;
    const tryAgain = { label: () => phrase("tryAgain"), run: () => void this.need() };
    const canReset = location.search !== "";
    if (isAbort(error)) state.showError(() => phrase("cancelled"), tryAgain);
    // Trying again cannot help: only the address, or what was picked, is to blame.
    else if (error instanceof InvalidArgumentError && state.chosen.peek() !== state.first)
      state.showError(() => phrase("notLoaded", { why: messageOf(error) }));
    else if (error instanceof InvalidArgumentError)
      state.showError(
        () => phrase("badAddress", { address: location.search, why: messageOf(error) }),
        undefined,
        { canReset },
      );
    else state.showError(() => phrase("notLoaded", { why: messageOf(error) }), tryAgain, { canReset });
  }

  /** Shows how far it is, as `stage` or in its own words. */
  private async fetch(chosen: ChosenModel, signal: AbortSignal, stage?: () => string): Promise<Loaded> {
    const { state } = this;
    state.loading.value = { stage: stage ?? (() => phrase("starting")) };
    state.hideError();
    if (chosen.problem) throw new InvalidArgumentError("invalid-argument", chosen.problem());
    await prepareHost(signal);
    // ?variant= and ?threads= force what is otherwise detected.
    const query = new URLSearchParams(location.search);
    const threads = query.get("threads");
    const traffic = { network: 0, cache: 0 };
    let told = 0;
    const model = await loadModel(chosen.source, {
      signal,
      prompt: this.textToCaret(),
      fetch: modelFetch,
      weights: chosen.weights,
      cache: storesModel(chosen),
      // The host may redirect its own demo model. A model that a link names may not be redirected to another host.
      redirect: chosen.folder !== undefined && storesModel(chosen) ? "error" : "follow",
      threads: threads === null ? undefined : Number(threads),
      variant: (query.get("variant") ?? undefined) as Variant | undefined, // checked by loadModel
      onProgress: (latest) => {
        traffic[latest.source] += Math.max(0, latest.loadedBytes - told);
        told = latest.loadedBytes;
        if (signal.aborted) return;
        const { retry, totalBytes } = latest;
        const said = stage ?? (() => phrase(totalBytes > 0 ? "loading" : "startingEngine"));
        state.loading.value = {
          stage: retry === undefined ? said : () => phrase("retry", { why: retry }),
          latest,
        };
      },
    });
    if (signal.aborted) void model.dispose(); // cancelled as it came
    signal.throwIfAborted();
    return { chosen, model, traffic };
  }

  /** Makes it the page's. */
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
      .finally(() => (state.loading.value = undefined));
    state.model.value = { kind: "loading", coming };
    return coming;
  }
}
