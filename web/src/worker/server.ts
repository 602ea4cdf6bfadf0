// Answers the page's requests, one at a time, and reads messages between tokens.
import { errorToWire, Gpt2Error, LoadError, WorkerError } from "../shared/errors.js";
import { failureOf } from "../shared/failures.js";
import type {
  FromWorker,
  GenerateRequest,
  LoadRequest,
  LoadResult,
  RequestName,
  Requests,
  ScoreRequest,
  ThreadChoice,
  ToWorker,
} from "../shared/protocol.js";
import type { GenerateSummary, ModelInfo } from "../shared/types.js";
import { limits } from "../shared/wire.js";
import { ReadAhead } from "./read-ahead.js";
import type { Engine } from "./engine.js";
import { generate } from "./generate.js";
import { threadNotice } from "./helper-threads.js";
import type { LoadedEngine, LoadSurroundings } from "./load.js";
import { prefill } from "./prefill.js";
import { idOfRequest, readToWorker } from "./read-message.js";
import { score } from "./score.js";
import { speedToRemember } from "./thread-speed.js";
import { EngineTurn, EngineQueue } from "./engine-queue.js";

type Request = Extract<ToWorker, { type: "request" }>;

/** Rarely used parts are loaded on demand. */
const inspecting = () =>
  import("./inspect.js").catch((error: unknown) => {
    throw new LoadError("network", `gpt2-inspect.js cannot be loaded: ${String(error)}`);
  });

const idInUse = (id: number) =>
  new Gpt2Error("invalid-argument", `message.id is ${id}, the id of another unanswered request`);
const tooMany = () =>
  new Gpt2Error("capacity", `more than ${limits.requests} requests wait: wait for some of their answers`);

export type Load = (
  request: LoadRequest,
  around: Pick<LoadSurroundings, "signal" | "tell" | "onEngine" | "failedThreads">,
) => Promise<LoadedEngine>;

/** The state of a request until it is answered. */
interface Running {
  readonly name: RequestName;
  readonly controller: AbortController;
  /** For a generation. */
  readonly readAhead: ReadAhead;
  readonly turn: EngineTurn;
}

/** Requests that use the KV cache: a waiting one ends a prefill. */
const usesContext: ReadonlySet<RequestName> = new Set<RequestName>([
  "generate",
  "prefill",
  "inspect",
  "score",
]);

/** The pause between two measurements, during which requests run first. */
const idleMs = 50;

export class Server {
  private engine: Engine | undefined;
  private info: ModelInfo | undefined; // set when the model is loaded
  private loadedThreads = 0;
  private measure: LoadedEngine["measure"];
  private known: LoadedEngine["known"];
  private failedThreads = 0;
  private hasEnded = false;
  private readonly queue = new EngineQueue();
  private readonly running = new Map<number, Running>();

  private readonly load: Load;
  private readonly post: (message: FromWorker) => void;

  constructor(load: Load, post: (message: FromWorker) => void) {
    this.load = load;
    this.post = post;
  }

  /** Handles a message from the port, which may be anything. Never throws. */
  receive(data: unknown): void {
    let message: ToWorker;
    try {
      message = readToWorker(data);
    } catch (error) {
      return this.refuse(data, error);
    }
    switch (message.type) {
      case "request":
        if (this.running.has(message.id)) return this.refuse(data, idInUse(message.id));
        if (this.running.size >= limits.requests) return this.refuse(data, tooMany());
        void this.run(message);
        return;
      case "cancel":
        this.running.get(message.id)?.controller.abort();
        return;
      case "read":
        this.running.get(message.id)?.readAhead.add(message.tokens);
        return;
      case "online":
        return void dispatchEvent(new Event("online")); // each separately loaded part has its own waits
      case "end":
        return this.end();
    }
  }

  /** Records that a helper thread could not be started or failed. */
  loseThread(): void {
    this.failedThreads += 1;
    if (!this.info) return; // the load reports it
    this.info.threads = Math.max(1, this.info.threads - 1);
    this.info.notice = threadNotice(this.info.threads, this.loadedThreads);
    this.post({ type: "info", info: { threads: this.info.threads, notice: this.info.notice } });
  }

  /**
   * Answers a request that cannot be run. Any other message, and one whose id is in use, gets an answer with id 0, which
   * no request has.
   */
  private refuse(data: unknown, error: unknown): void {
    const id = idOfRequest(data) ?? 0;
    this.fail(this.running.has(id) ? 0 : id, failureOf(error));
  }

  private fail(id: number, error: Gpt2Error): void {
    this.post({ type: "failed", id, error: errorToWire(error) });
  }

  private async run(message: Request): Promise<void> {
    const ahead = message.name === "generate" ? message.args.ahead : 0;
    const running = {
      name: message.name,
      controller: new AbortController(),
      readAhead: new ReadAhead(ahead),
      turn: new EngineTurn(this.queue),
    };
    const { signal } = running.controller;
    let summary: GenerateSummary | undefined;
    this.running.set(message.id, running);
    try {
      // It needs only the vocabulary: a reader can decode tokens while the model writes others.
      if (message.name !== "detokenize") await running.turn.take(signal);
      const result = await this.answer(message, running);
      this.post({ type: "done", id: message.id, result });
      // A changed pass may take longer.
      if (message.name === "generate" && message.args.change === undefined)
        summary = result as GenerateSummary;
    } catch (error) {
      const failure = signal.aborted
        ? new Gpt2Error("cancelled", "the request was cancelled")
        : failureOf(error);
      this.fail(message.id, failure);
    } finally {
      running.turn.give();
      this.running.delete(message.id);
      if (summary) this.recordSpeed(summary);
      // Not during the load, so that the first token is not delayed.
      if (message.name === "generate") void this.tuneThreads();
    }
  }

  private async answer(
    message: Request,
    { controller: { signal }, readAhead, turn }: Running,
  ): Promise<Requests[RequestName]["result"]> {
    const tell = (event: Requests[RequestName]["event"]) =>
      this.post({ type: "event", id: message.id, event });
    switch (message.name) {
      case "load":
        return this.loadModel(message.args, signal, tell);
      case "generate": {
        const pause = (ready: Promise<void>) => turn.giveUntil(ready, signal);
        const { allowSpecial = false } = message.args.options;
        const hooks = await this.hooksOf(message.args, { allowSpecial, isPrompt: true }, signal);
        return generate(this.needEngine(), message.args, { signal, tell, readAhead, pause, hooks });
      }
      case "prefill":
        return prefill(this.needEngine(), message.args, {
          signal,
          tell,
          isOvertaken: () => this.isAwaited((name) => usesContext.has(name)),
          letOthersIn: async () => {
            if (this.isAwaited(() => true)) await turn.giveUntil(Promise.resolve(), signal);
          },
        });
      case "inspect": {
        const { engine, info } = this.needModel();
        const { inspect } = await inspecting();
        return inspect(engine, info.config, message.args, signal, tell);
      }
      case "score":
        return score(
          this.needEngine(),
          message.args,
          await this.hooksOf(message.args, {}, signal),
          signal,
          tell,
        );
      case "tokenize":
        return this.needEngine().tokenize(message.args.text, message.args);
      case "detokenize":
        return this.needEngine().detokenize(message.args);
    }
  }

  /** The numbers that describe the changes of a request to the engine. */
  private async hooksOf(
    { prompt, change }: GenerateRequest | ScoreRequest,
    tokenizing: Parameters<Engine["tokenize"]>[1],
    signal: AbortSignal,
  ): Promise<readonly number[] | undefined> {
    if (change === undefined) return undefined;
    const { engine, info } = this.needModel();
    const { hooksOf } = await inspecting();
    const idsOf = () => (typeof prompt === "string" ? engine.tokenize(prompt, tokenizing) : prompt);
    return (await hooksOf(engine, info.config, { change }, idsOf, signal))?.numbers;
  }

  /** Whether a waiting request satisfies `counts`. */
  private isAwaited(counts: (name: RequestName) => boolean): boolean {
    return [...this.running.values()].some(({ name, turn }) => turn.isWaiting && counts(name));
  }

  private needModel(): { engine: Engine; info: ModelInfo } {
    const { engine, info } = this;
    if (!engine || !info) throw new Gpt2Error("invalid-argument", "no model is loaded");
    return { engine, info };
  }

  private needEngine(): Engine {
    return this.needModel().engine;
  }

  private async loadModel(
    request: LoadRequest,
    signal: AbortSignal,
    tell: LoadSurroundings["tell"],
  ): Promise<LoadResult> {
    if (this.hasEnded) throw new WorkerError("disposed", "the worker has ended");
    // A worker holds one model: the page ends the worker to free it.
    if (this.engine) throw new Gpt2Error("invalid-argument", "this worker already has a model");
    const { info, measure, known } = await this.load(request, {
      signal,
      tell,
      onEngine: (engine) => {
        this.engine = engine;
        if (this.hasEnded) engine.destroy();
      },
      failedThreads: () => this.failedThreads,
    });
    this.info = info;
    this.loadedThreads = info.threads;
    this.measure = measure;
    this.known = known;
    return { info };
  }

  /** Measures the best number of threads, a few steps at a time, while there are no requests. */
  private async tuneThreads(): Promise<void> {
    const { engine, info, measure } = this;
    if (!engine || !info || !measure) return;
    this.measure = undefined; // only once
    try {
      let tuned = { threads: 0, isDone: false, isMeasured: true };
      while (!tuned.isDone) {
        await new Promise((resolve) => setTimeout(resolve, idleMs));
        if (this.running.size > 0) continue;
        tuned = engine.call("_gpt2_tune_threads") as typeof tuned;
      }
      const { threads, isMeasured } = tuned;
      info.threads = this.loadedThreads = threads;
      const { measureAs: key } = measure;
      this.known = key === undefined || !isMeasured ? undefined : { key, threads };
      this.tellThreads(info, this.known);
    } catch {
      // The engine has ended or failed: the next request gets the error.
    }
  }

  /** Stores how fast the chosen threads are. A large change of speed triggers a new measurement at the next load. */
  private recordSpeed(summary: GenerateSummary): void {
    const { known, info } = this;
    if (!known || !info) return;
    const changed = speedToRemember(known, summary, info.weightBytes);
    if (!changed) return;
    this.known = undefined; // the next load measures again
    this.tellThreads(info, changed);
  }

  private tellThreads({ threads, notice }: ModelInfo, threadChoice: ThreadChoice | undefined): void {
    this.post({ type: "info", info: { threads, notice }, ...(threadChoice && { threadChoice }) });
  }

  private end(): void {
    this.hasEnded = true;
    for (const { controller } of this.running.values()) controller.abort();
    this.engine?.destroy();
    this.post({ type: "ended" });
  }
}
