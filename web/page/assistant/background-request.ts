// Requests that the page makes by itself while the model is idle, as for suggestions. Each starts after a pause and replaces the
// one before. Requests of the visitor go first.
import type { Model } from "../../src/client/index.js";
import { isAbort } from "../state/errors.js";

/** How often to check whether the model is idle. */
const lookAgainMs = 500;

export interface BackgroundRequestSetting {
  /** The model, if it is loaded and idle. It is not loaded for this. */
  idleModel: () => Promise<Model | undefined> | undefined;
  /** Called with each error, except for aborted requests. */
  fail: (error: unknown) => void;
}

/** The requests that the model is working on. */
const running = new Set<BackgroundRequest>();

/** The visitor's requests that have not ended. */
const visitorsRequests = new Set<Promise<unknown>>();

/** Aborts all background requests, so that the visitor's request comes next. They are repeated after `work`. */
export function pauseBackgroundRequests(work?: Promise<unknown>): void {
  for (const asking of running) asking.postpone();
  if (!work) return;
  visitorsRequests.add(work);
  const leave = () => visitorsRequests.delete(work);
  work.then(leave, leave);
}

export class BackgroundRequest {
  private readonly setting: BackgroundRequestSetting;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private current: AbortController | undefined;
  private askAgain = () => {};

  constructor(setting: BackgroundRequestSetting) {
    this.setting = setting;
  }

  /** Replaces the request before it. Calls `ask` after `ms`, once the model is idle; calls `onWait` each time it is not. */
  schedule(ms: number, ask: (model: Model, signal: AbortSignal) => Promise<void>, onWait = () => {}): void {
    this.stop();
    const { signal } = (this.current = new AbortController());
    const run = async () => {
      try {
        const model = visitorsRequests.size > 0 ? undefined : await this.setting.idleModel();
        signal.throwIfAborted();
        if (model) {
          running.add(this);
          return await ask(model, signal);
        }
        onWait();
        this.timer = setTimeout(() => void run(), lookAgainMs);
      } catch (error) {
        if (!signal.aborted && !isAbort(error)) this.setting.fail(error);
      } finally {
        if (!signal.aborted) running.delete(this); // else a newer request may be running
      }
    };
    this.askAgain = () => this.schedule(lookAgainMs, ask, onWait);
    this.timer = setTimeout(() => void run(), ms);
  }

  /** Aborts the request, and repeats it once the model is idle. */
  postpone(): void {
    this.askAgain();
  }

  /** Aborts the request. */
  stop(): void {
    clearTimeout(this.timer);
    this.current?.abort();
    running.delete(this);
  }
}
