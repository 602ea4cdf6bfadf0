import type { LoadedEngine } from "../../../web/src/worker/load.js";
import type { Engine, Output } from "../../../web/src/worker/engine.js";
import type { Load } from "../../../web/src/worker/server.js";
import { Gpt2Error } from "../../../web/src/shared/errors.js";

interface Generation {
  written: number;
  most: number;
  prompt: unknown;
}

/** Writes "0 ", "1 ", ...: token i for any prompt. Records calls for the tests. */
export class FakeEngine {
  readonly calls: string[] = [];
  readonly requests: unknown[] = [];
  steps = 0;
  isDestroyed = false;
  /** The number of measurements of the best thread count. */
  measurements = 0;
  hasCoarseClock = false;
  private current: Generation | undefined;
  private latest: Output = { tokens: [], done: 0, total: 0, isDone: true };
  private readonly aside = new Map<number, Generation>();
  private nextNumber = 1;

  get suspended(): number {
    return this.aside.size;
  }

  start(name: string, prompt: unknown, options: { maxNewTokens?: number; heal?: boolean }): unknown {
    this.enter(name);
    this.requests.push({ prompt, options });
    if (name === "_gpt2_score") {
      const tokens = [{ index: 0, id: 7, text: "a", logprob: NaN, rank: 0 }];
      this.latest = { done: 1, total: 2, isDone: false, tokens };
      return undefined;
    }
    const most = options.maxNewTokens ?? 64;
    this.current = { written: 0, most, prompt };
    this.latest = { tokens: [], done: 2, total: 5, isDone: most === 0 };
    return { promptTokens: 5, reusedTokens: 2, healedTokens: options.heal ? 1 : 0 };
  }

  tokenize(text: string): number[] {
    this.enter("tokenize");
    return Array.from(text).map((letter) => letter.codePointAt(0) ?? 0);
  }

  detokenize(ids: readonly number[]): string {
    this.enter("detokenize");
    return `text of ${JSON.stringify(ids)}`;
  }

  output(): Output {
    return this.latest;
  }

  call(name: string): unknown {
    this.enter(name);
    if (name === "_gpt2_tune_threads")
      return { threads: 2, isDone: ++this.measurements === 3, isMeasured: !this.hasCoarseClock };
    const current = this.current;
    if (!current) throw new Gpt2Error("invalid-argument", "no generation is under way");
    if (name === "_gpt2_summary")
      return { finishReasons: ["length"], droppedTokens: 0, draftedTokens: 0, acceptedTokens: 0 };
    const number = this.nextNumber++; // it is suspended
    this.aside.set(number, current);
    this.current = undefined;
    return number;
  }

  step(name: string): Output {
    this.enter(name);
    if (name === "_gpt2_score_step") {
      const tokens = [{ index: 0, id: 8, text: "b", logprob: -1, rank: 3 }];
      return { done: 2, total: 2, isDone: true, tokens };
    }
    if (name === "_gpt2_prefill_step") {
      const done = this.latest.done + 1;
      return (this.latest = { tokens: [], done, total: 5, isDone: done === 4 });
    }
    const current = this.current;
    if (!current) throw new Gpt2Error("invalid-argument", "no generation is under way");
    this.steps += 1;
    const id = current.written++;
    const tokens = [{ index: 0, id, text: `${id} `, logprob: -1, rank: 1 }];
    return { tokens, done: 5, total: 5, isDone: current.written === current.most };
  }

  resume(number: number): void {
    this.enter("resume");
    this.current = this.aside.get(number);
    this.aside.delete(number);
  }

  discard(number: number): void {
    this.enter("discard");
    this.aside.delete(number);
  }

  destroy(): void {
    this.isDestroyed = true;
  }

  private enter(name: string): void {
    this.calls.push(name);
    if (this.isDestroyed) throw new Gpt2Error("disposed", "the engine was called after its end");
  }
}

export const asEngine = (engine: FakeEngine) => engine as unknown as Engine;

/** A load that finishes at once. With `measure`, the best number of threads is still unknown. */
export function loadsAtOnce(
  engine: FakeEngine,
  measure?: LoadedEngine["measure"],
  known?: LoadedEngine["known"],
): Load {
  return async (_, { onEngine }) => {
    onEngine(asEngine(engine));
    const info = { threads: 4, notice: null, hasTokenizer: true, weightBytes: 1000 };
    return { engine: asEngine(engine), info, measure, known } as unknown as LoadedEngine;
  };
}
