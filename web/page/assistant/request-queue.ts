// The queue of the page's own requests, such as for the details of a word. Each starts after a pause, and replaces the
// previous one of the same kind. One runs at a time; the visitor's requests come before all of them.
import type { Model } from "../../src/client/index.js";
import { isAbort } from "../state/errors.js";

/** The most urgent first. A more urgent request interrupts the one that runs, which is repeated later. */
const kinds = ["cut", "details", "inside", "picture", "scores", "prefill"] as const;
type Kind = (typeof kinds)[number];

/** How often to check whether the model is idle, and the pause before a request is repeated. */
const retryMs = 500;

/** Must stop using the model when `signal` aborts. */
type Ask = (model: Model, signal: AbortSignal) => Promise<void>;

export class RequestQueue {
  private readonly idleModel: () => Promise<Model | undefined> | undefined;
  /** The requests whose pause is over. */
  private readonly due = new Set<PageRequest>();
  /** The visitor's requests that have not ended. */
  private readonly visitors = new Set<Promise<unknown>>();
  private running: { readonly request: PageRequest } | undefined;
  private retry: ReturnType<typeof setTimeout> | undefined;

  /** `idleModel` returns the model if it is loaded and does not write. It is not loaded for a request of the page. */
  constructor(idleModel: () => Promise<Model | undefined> | undefined) {
    this.idleModel = idleModel;
  }

  get isModelIdle(): boolean {
    return this.idleModel() !== undefined;
  }

  /** The page's requests of one kind. `fail` gets each error, except for aborted requests. */
  requests(kind: Kind, fail: (error: unknown) => void): PageRequest {
    return new PageRequest(this, kinds.indexOf(kind), fail);
  }

  /** Interrupts the running request, so that the visitor's comes next; the others wait until `work` has ended. */
  putFirst(work?: Promise<unknown>): void {
    this.running?.request.repeatLater();
    if (!work) return;
    this.visitors.add(work);
    const leave = () => this.visitors.delete(work);
    work.then(leave, leave);
  }

  /** Runs `request` as soon as the model is idle and nothing more urgent is due. */
  add(request: PageRequest): void {
    this.due.add(request);
    this.next();
  }

  /** Removes `request`, whether it waits or runs. */
  remove(request: PageRequest): void {
    this.due.delete(request);
    if (this.running?.request !== request) return;
    this.running = undefined;
    queueMicrotask(() => this.next()); // after its replacement has been added
  }

  private next(): void {
    const [first] = [...this.due].sort((one, other) => one.rank - other.rank);
    if (!first || (this.running && this.running.request.rank <= first.rank)) return;
    const coming = this.visitors.size > 0 ? undefined : this.idleModel();
    if (!coming) {
      for (const request of this.due) request.onWait();
      clearTimeout(this.retry);
      this.retry = setTimeout(() => this.next(), retryMs);
      return;
    }
    this.running?.request.repeatLater();
    const turn = { request: first };
    this.due.delete(first);
    this.running = turn;
    void first.run(coming).then(() => {
      if (this.running !== turn) return; // this one was removed, and another may run
      this.running = undefined;
      this.next();
    });
  }
}

/** Created by `RequestQueue.requests`. */
export class PageRequest {
  /** The index of its kind in `kinds`. */
  readonly rank: number;
  private readonly queue: RequestQueue;
  private readonly fail: (error: unknown) => void;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private controller = new AbortController();
  private ask: Ask = () => Promise.resolve();
  /** Called each time that the request is due and the model is not idle. */
  onWait: () => void = () => {};

  constructor(queue: RequestQueue, rank: number, fail: (error: unknown) => void) {
    this.queue = queue;
    this.rank = rank;
    this.fail = fail;
  }

  /** Replaces the previous request. Calls `ask` after `ms`, when it is its turn. */
  schedule(ms: number, ask: Ask, onWait = () => {}): void {
    this.stop();
    this.controller = new AbortController();
    this.ask = ask;
    this.onWait = onWait;
    this.timer = setTimeout(() => this.queue.add(this), ms);
  }

  repeatLater(): void {
    this.schedule(retryMs, this.ask, this.onWait);
  }

  /** Drops the request. */
  stop(): void {
    clearTimeout(this.timer);
    this.controller.abort();
    this.queue.remove(this);
  }

  /** Called by the queue. Never rejects. */
  async run(coming: Promise<Model | undefined>): Promise<void> {
    const { signal } = this.controller;
    try {
      const model = await coming;
      signal.throwIfAborted();
      if (model) await this.ask(model, signal);
    } catch (error) {
      if (!signal.aborted && !isAbort(error)) this.fail(error);
    }
  }
}
