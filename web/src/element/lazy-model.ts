// The model of an element: loaded on demand, and disposed of when the element has left the page for good.
import { loadModel, WorkerError, type LoadOptions, type LoadProgress, type Model } from "../client/index.js";
import { followingController } from "../shared/unless-aborted.js";
import { refuse } from "./refuse.js";

/** During this time, an element that is moved or replaced by a similar one keeps its model. */
const lingerMs = 1000;

export class LazyModel {
  private loading: Promise<Model> | undefined;
  private controller = new AbortController();
  private timer: ReturnType<typeof setTimeout> | undefined;

  /** Loads that ended because another model was requested. */
  private readonly replaced = new WeakSet<Promise<Model>>();

  /** What to load, computed at each load. */
  private readonly wanted: () => { url: string; options: LoadOptions };
  private readonly onProgress: (progress: LoadProgress) => void;
  private readonly onRelease: () => void;

  /** Calls `onRelease` when the model, or its load, is no longer wanted: no progress follows. */
  constructor(
    wanted: () => { url: string; options: LoadOptions },
    onProgress: (progress: LoadProgress) => void,
    onRelease: () => void = () => {},
  ) {
    this.wanted = wanted;
    this.onProgress = onProgress;
    this.onRelease = onRelease;
  }

  /**
   * Loads the model if necessary. After `replace`, all waiting calls get the new model. After a failed load, the next
   * call tries again.
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
    const { url, options } = this.wanted();
    if (url === "") return refuse('expected the attribute "model" with the address of a model');
    const { controller, letGo } = followingController(options.signal);
    const { signal } = (this.controller = controller);
    return loadModel(url, {
      ...options,
      signal,
      onProgress: (progress) => {
        options.onProgress?.(progress);
        if (!signal.aborted) this.onProgress(progress);
      },
    }).finally(letGo);
  }

  /**
   * Disposes of the model because another one is wanted. The next `load`, and one that is running, return the new one.
   */
  replace(): void {
    if (this.loading) this.replaced.add(this.loading);
    this.release();
  }

  /** Disposes of the model. A running load rejects. */
  release(): void {
    this.controller.abort();
    this.loading?.then((model) => model.dispose()).catch(() => {});
    this.loading = undefined;
    this.onRelease();
  }

  /** After an error that ended the worker, the next `load` loads the model again. */
  forget(error: unknown): void {
    if (error instanceof WorkerError) this.release();
  }

  /** Disposes of the model after a while, unless `keep` is called before. */
  releaseSoon(): void {
    this.timer = setTimeout(() => this.release(), lingerMs);
  }

  keep(): void {
    clearTimeout(this.timer);
  }

  /** Disposes of the model when the document of `element` ends: elements of a removed frame are not disconnected. */
  endWith(element: Element): void {
    const { ownerDocument: its } = element;
    its.defaultView?.addEventListener("pagehide", () => element.ownerDocument === its && this.release());
  }
}
