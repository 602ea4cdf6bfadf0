// What is asked of the model beside the writing: after a pause, and nothing but what was asked last. It gives way to what the
// visitor asks for.
import type { Model } from "../../src/client/index.js";
import { isAbort } from "../state/errors.js";

/** Until one sees again whether the model has come to rest. */
const lookAgainMs = 500;

export interface AskingSetting {
  /** The model, where there is one already and it is not at work: nobody asked for it to be loaded. */
  idleModel: () => Promise<Model | undefined> | undefined;
  /** Told of what went wrong, but for what was dropped. */
  fail: (error: unknown) => void;
}

/** Those that the model is at work for. */
const atWork = new Set<Asking>();

/** Of what the visitor asked for, what is not done yet. */
const goesFirst = new Set<Promise<unknown>>();

/** Drops what the model is asked beside the writing, so that what the visitor asks for comes next; it is asked again after `work`. */
export function makeWay(work?: Promise<unknown>): void {
  for (const asking of atWork) asking.postpone();
  if (!work) return;
  goesFirst.add(work);
  const leave = () => goesFirst.delete(work);
  work.then(leave, leave);
}

export class Asking {
  private readonly setting: AskingSetting;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private current: AbortController | undefined;
  private askAgain = () => {};

  constructor(setting: AskingSetting) {
    this.setting = setting;
  }

  /** Drops what was asked before. Asks `ms` later, once the model is at rest; where it is not by then, calls `onWait`. */
  soon(ms: number, ask: (model: Model, signal: AbortSignal) => Promise<void>, onWait = () => {}): void {
    this.stop();
    const { signal } = (this.current = new AbortController());
    const run = async () => {
      try {
        const model = goesFirst.size > 0 ? undefined : await this.setting.idleModel();
        signal.throwIfAborted();
        if (model) {
          atWork.add(this);
          return await ask(model, signal);
        }
        onWait();
        this.timer = setTimeout(() => void run(), lookAgainMs);
      } catch (error) {
        if (!signal.aborted && !isAbort(error)) this.setting.fail(error);
      } finally {
        if (!signal.aborted) atWork.delete(this); // else another may be at work by now
      }
    };
    this.askAgain = () => this.soon(lookAgainMs, ask, onWait);
    this.timer = setTimeout(() => void run(), ms);
  }

  /** Drops what is asked, and asks it again once the model is at rest. */
  postpone(): void {
    this.askAgain();
  }

  /** Drops what is asked. */
  stop(): void {
    clearTimeout(this.timer);
    this.current?.abort();
    atWork.delete(this);
  }
}
