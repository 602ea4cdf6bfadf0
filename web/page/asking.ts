// What is asked of the model beside the writing: after a pause, and nothing but what was asked last.
import type { Model } from "../src/client/index.js";
import { isAbort } from "./messages.js";

/** Until one sees again whether the model has come to rest. */
const lookAgainMs = 500;

export interface AskingSetting {
  /** The model, where there is one already and it is not at work: nobody asked for it to be loaded. */
  idleModel: () => Promise<Model | undefined> | undefined;
  /** Told of what went wrong, but for what was dropped. */
  fail: (error: unknown) => void;
}

export class Asking {
  private readonly setting: AskingSetting;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private current: AbortController | undefined;

  constructor(setting: AskingSetting) {
    this.setting = setting;
  }

  /** Drops what was asked before. Asks `ms` later, once the model is at rest; where it is not by then, calls `onWait`. */
  soon(ms: number, ask: (model: Model, signal: AbortSignal) => Promise<void>, onWait = () => {}): void {
    this.stop();
    const { signal } = (this.current = new AbortController());
    const run = async () => {
      try {
        const model = await this.setting.idleModel();
        signal.throwIfAborted();
        if (model) return await ask(model, signal);
        onWait();
        this.timer = setTimeout(() => void run(), lookAgainMs);
      } catch (error) {
        if (!signal.aborted && !isAbort(error)) this.setting.fail(error);
      }
    };
    this.timer = setTimeout(() => void run(), ms);
  }

  /** Drops what is asked. */
  stop(): void {
    clearTimeout(this.timer);
    this.current?.abort();
  }
}
