// The model of an element: loaded when it is needed, given back when the element has gone for good.
import { loadModel, WorkerError, type LoadOptions, type LoadProgress, type Model } from "../client/index.js";

/** An element that is moved, or replaced by another of its kind, does not load anew. */
const lingerMs = 1000;

export class LazyModel {
  private loading: Promise<Model> | undefined;
  private controller = new AbortController();
  private timer: ReturnType<typeof setTimeout> | undefined;

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

  /** Loads it, unless it has been. A failed load is tried again by the next call. */
  load(): Promise<Model> {
    if (this.loading) return this.loading;
    const { signal } = (this.controller = new AbortController());
    const { url, options } = this.wanted();
    const loading = loadModel(url, {
      ...options,
      signal,
      onProgress: (progress) => {
        options.onProgress?.(progress);
        if (!signal.aborted) this.onProgress(progress);
      },
    });
    this.loading = loading;
    loading.catch(() => {
      if (this.loading === loading) this.loading = undefined;
    });
    return loading;
  }

  /** Gives the model back now; those who still wait for it are told. */
  release(): void {
    this.controller.abort();
    this.loading?.then((model) => model.dispose()).catch(() => {});
    this.loading = undefined;
  }

  /** After an error that it does not survive, the next call loads it anew. */
  forget(error: unknown): void {
    if (error instanceof WorkerError) this.release();
  }

  /** Gives it back in a while, unless `keep` is called before. */
  releaseSoon(): void {
    this.timer = setTimeout(() => this.release(), lingerMs);
  }

  keep(): void {
    clearTimeout(this.timer);
  }
}
