// The model of an element: loaded when it is needed, disposed of when the element has left the page for good.
import { loadModel, WorkerError, type LoadOptions, type LoadProgress, type Model } from "../client/index.js";
import { refuse } from "../shared/refuse.js";

/** An element that is moved, or replaced by another of its kind, does not load its model again. */
const lingerMs = 1000;

export class LazyModel {
  private loading: Promise<Model> | undefined;
  private controller = new AbortController();
  private timer: ReturnType<typeof setTimeout> | undefined;

  /** Loads that ended because another model is wanted. */
  private readonly replaced = new WeakSet<Promise<Model>>();

  /** What to load, asked whenever it is loaded. */
  private readonly wanted: () => { url: string; options: LoadOptions };
  private readonly onProgress: (progress: LoadProgress) => void;

  constructor(
    wanted: () => { url: string; options: LoadOptions },
    onProgress: (progress: LoadProgress) => void,
  ) {
    this.wanted = wanted;
    this.onProgress = onProgress;
  }

  /**
   * Loads the model, unless it is loaded. After `replace`, all waiting calls get the new one. A failed load is tried
   * again by the next call.
   */
  async load(): Promise<Model> {
    for (;;) {
      const loading = (this.loading ??= this.start());
      try {
        return await loading;
      } catch (error) {
        if (this.loading === loading) this.loading = undefined;
        if (!this.replaced.has(loading)) throw error;
      }
    }
  }

  private async start(): Promise<Model> {
    const { signal } = (this.controller = new AbortController());
    const { url, options } = this.wanted();
    if (url === "") return refuse('expected the attribute "model" with the address of a model');
    return loadModel(url, {
      ...options,
      signal,
      onProgress: (progress) => {
        options.onProgress?.(progress);
        if (!signal.aborted) this.onProgress(progress);
      },
    });
  }

  /** Disposes of the model, because another is wanted: the next `load`, and one that is under way, bring that. */
  replace(): void {
    if (this.loading) this.replaced.add(this.loading);
    this.release();
  }

  /** Disposes of the model. A load that is under way rejects. */
  release(): void {
    this.controller.abort();
    this.loading?.then((model) => model.dispose()).catch(() => {});
    this.loading = undefined;
  }

  /** After an error that the worker does not survive, the next `load` loads the model anew. */
  forget(error: unknown): void {
    if (error instanceof WorkerError) this.release();
  }

  /** Disposes of it in a while, unless `keep` is called before. */
  releaseSoon(): void {
    this.timer = setTimeout(() => this.release(), lingerMs);
  }

  keep(): void {
    clearTimeout(this.timer);
  }
}
