// What a loaded model can do.
/// <reference lib="esnext.disposable" preserve="true" />
import type {
  Completion,
  GenerateOptions,
  GenerateSummary,
  Inspection,
  ModelInfo,
  Prefilled,
  Prompt,
  PromptProgress,
  Score,
  ScoreProgress,
  Token,
  TokenIds,
} from "../shared/types.js";
import {
  generateOptionNames,
  readCallback,
  readFlag,
  readGenerateOptions,
  readOptions,
  readPrompt,
  readSignal,
  readText,
  readTokenIds,
} from "./arguments.js";
import { refuse } from "../shared/refuse.js";
import type { Connection } from "./connection.js";
import type { Explanation } from "./environment.js";
import { TokenQueue } from "./token-queue.js";

/** null says nothing, as undefined. */
type OrNull<T> = { [K in keyof T]: T[K] | null };

export interface CallOptions {
  signal?: AbortSignal | null | undefined;
}

/** What a caller may pass to `generate`, `stream` and `complete`. */
export interface GenerateCall extends OrNull<Omit<GenerateOptions, "seed">>, CallOptions {
  /** The same seed gives the same text on every machine; random, and reported, when left out. */
  seed?: number | bigint | null | undefined;
  /** While a long prompt is read. */
  onPrompt?: ((progress: PromptProgress) => void) | null | undefined;
  /** Once, at the end. */
  onSummary?: ((summary: GenerateSummary) => void) | null | undefined;
}

/** Tokens by which a generation may be ahead of its reader, and after how many of them the worker is told. */
const mostUnread = 256;
const readBatch = 64;

/** What a model asks of, and ends. */
type Requester = Pick<Connection, "open" | "request" | "dispose">;

/** Models that no program holds any more are disposed of. */
const forgotten = new FinalizationRegistry<Requester>((requester) => void requester.dispose());

const callNames = ["signal", "onPrompt", "onSummary"];

function readCall(name: string, call: unknown) {
  const names = [...generateOptionNames, ...callNames];
  const { signal, onPrompt, onSummary, ...options } = readOptions(name, call, names);
  return {
    signal: readSignal(signal),
    onPrompt: readCallback<PromptProgress>("onPrompt", onPrompt),
    onSummary: readCallback<GenerateSummary>("onSummary", onSummary),
    options: readGenerateOptions(options),
  };
}

function completionOf(all: readonly Token[], summary: GenerateSummary): Completion {
  const continuations = summary.finishReasons.map((finishReason, index) => {
    const tokens = all.filter((token) => token.index === index);
    const text = tokens.map((token) => token.text).join("");
    return { text, tokens, finishReason, seed: summary.seed + index };
  });
  const [first] = continuations;
  return { ...summary, text: first?.text ?? "", tokens: first?.tokens ?? [], continuations };
}

/** A generation that is read token by token. */
interface Reading {
  /** undefined after the last. Rejects at once when the signal is aborted, whatever has arrived before. */
  next(): Promise<Token | undefined>;
  /** For after the last token. */
  finish(): Promise<GenerateSummary>;
  /** Stops the model, if it has not finished. */
  stop(reason: unknown): void;
  /** Is not to be collected as garbage while somebody reads. */
  model: Model;
}

/**
 * A loaded model. Requests are answered one after the other, in order; a generation that waits for its reader
 * lets others go first. Models that were loaded alike share one worker and one copy of the weights, and each is
 * disposed of on its own: by `dispose`, by `await using`, or when it is collected as garbage.
 */
export class Model {
  /** As dispose, for `await using`. */
  declare readonly [Symbol.asyncDispose]: () => Promise<void>;

  static {
    // Where a browser has no such symbol, what compiles `await using` for it looks for this one.
    const key = (Symbol.asyncDispose as symbol | undefined) ?? Symbol.for("Symbol.asyncDispose");
    Object.defineProperty(this.prototype, key, {
      value(this: Model) {
        return this.dispose();
      },
    });
  }

  private readonly requester: Requester;
  readonly info: ModelInfo;

  constructor(requester: Requester, info: ModelInfo) {
    this.requester = requester;
    this.info = info;

    forgotten.register(this, requester);
  }

  /**
   * Writes on after `prompt`, token by token; those of `n` continuations come in turn. Leaving the loop early stops
   * the model. It is at most a few hundred tokens ahead of the loop: then it waits.
   */
  async *generate(prompt: Prompt, call: GenerateCall = {}): AsyncGenerator<Token, GenerateSummary, void> {
    const reading = this.read(prompt, readCall("generate", call));
    try {
      for (;;) {
        const token = await reading.next();
        if (!token) break;
        yield token;
      }
      return await reading.finish();
    } finally {
      reading.stop(new Error("the loop was left"));
    }
  }

  /**
   * Writes on after `prompt` as a stream of text, for pipes: `model.stream(prompt).pipeThrough(new TextEncoderStream())`
   * is what a Response takes. The model waits for its reader, and stops when the stream is cancelled.
   */
  stream(prompt: Prompt, call: GenerateCall = {}): ReadableStream<string> {
    const wanted = readCall("stream", call);
    const { n = 1 } = wanted.options;
    if (n !== 1)
      refuse(`n is ${n}, but a stream is one text; generate says which continuation a token is of`);
    const reading = this.read(prompt, wanted);
    return new ReadableStream<string>(
      {
        pull: async (controller) => {
          for (;;) {
            const token = await reading.next();
            if (token?.text) return controller.enqueue(token.text);
            if (token) continue; // a character is not whole yet
            await reading.finish();
            return controller.close();
          }
        },
        cancel: (reason) => reading.stop(reason),
      },
      { highWaterMark: 0 }, // what waits for a reader waits in the queue
    );
  }

  private read(
    prompt: Prompt,
    { signal, onPrompt, onSummary, options }: ReturnType<typeof readCall>,
  ): Reading {
    const queue: TokenQueue = new TokenQueue((tokens) => request.read(tokens), readBatch);
    const request = this.requester.open(
      "generate",
      { prompt: readPrompt("prompt", prompt), options, ahead: mostUnread },
      {
        signal,
        onEvent: (event) => {
          if ("prompt" in event) return onPrompt?.(event.prompt);
          event.tokens.forEach((token) => queue.push(token));
        },
      },
    );
    request.result.then(
      () => queue.finish(),
      (error: unknown) => queue.fail(error),
    );
    return {
      next: async () => {
        const token = await queue.next();
        signal?.throwIfAborted();
        return token;
      },
      finish: async () => {
        const summary = await request.result;
        await (onSummary?.(summary) as unknown); // an async callback may reject
        return summary;
      },
      stop: request.cancel,
      model: this,
    };
  }

  /** Writes on after `prompt` and gives everything at once. */
  async complete(prompt: Prompt, call: GenerateCall = {}): Promise<Completion> {
    const { signal, onPrompt, onSummary, options } = readCall("complete", call);
    const tokens: Token[] = [];
    const summary = await this.requester.request(
      "generate",
      { prompt: readPrompt("prompt", prompt), options, ahead: Infinity },
      {
        signal,
        onEvent: (event) => {
          if ("prompt" in event) return onPrompt?.(event.prompt);
          tokens.push(...event.tokens);
        },
        owner: this,
      },
    );
    await (onSummary?.(summary) as unknown); // an async callback may reject
    return completionOf(tokens, summary);
  }

  /**
   * Computes the KV cache of `text` in the background, so that a generation whose prompt begins so costs only the
   * rest, and gives to the bit what it would have given. What the cache has of the text's beginning stays: after a
   * keystroke only the tokens from the first changed one on are run. It keeps nobody waiting: a request for the
   * model that comes meanwhile, another `prefill` too, is answered after at most 16 tokens, and ends this one where
   * it needs the cache itself.
   */
  async prefill(
    text: Prompt,
    options: CallOptions & {
      allowSpecial?: boolean | null | undefined;
      onProgress?: ((progress: PromptProgress) => void) | null | undefined;
    } = {},
  ): Promise<Prefilled> {
    const names = ["allowSpecial", "signal", "onProgress"];
    const { allowSpecial, signal, onProgress } = readOptions("prefill", options, names);
    return this.requester.request(
      "prefill",
      { prompt: readPrompt("text", text), allowSpecial: readFlag("allowSpecial", allowSpecial) },
      {
        signal: readSignal(signal),
        onEvent: readCallback<PromptProgress>("onProgress", onProgress),
        owner: this,
      },
    );
  }

  async tokenize(
    text: string,
    options: CallOptions & { allowSpecial?: boolean | null | undefined } = {},
  ): Promise<number[]> {
    const { signal, allowSpecial } = readOptions("tokenize", options, ["allowSpecial", "signal"]);
    const args = { text: readText("text", text), allowSpecial: readFlag("allowSpecial", allowSpecial) };
    return this.requester.request("tokenize", args, { signal: readSignal(signal), owner: this });
  }

  /** Bytes that are no whole character come out as U+FFFD, as TextDecoder has it. */
  async detokenize(ids: TokenIds, options: CallOptions = {}): Promise<string> {
    const { signal } = readOptions("detokenize", options, ["signal"]);
    const request = { signal: readSignal(signal), owner: this };
    return this.requester.request("detokenize", readTokenIds("ids", ids), request);
  }

  /**
   * The log-probability of each token of a text. One longer than the context is scored in windows that
   * advance by `stride` tokens, by default half the context. With `start`, from 0 to their number, of the tokens from that
   * index on alone, to the bit as of the whole text: those before them are not run where they are cached. `onProgress` has
   * the scores as they come.
   */
  async score(
    text: Prompt,
    options: CallOptions &
      OrNull<{ stride?: number; start?: number; onProgress?: (progress: ScoreProgress) => void }> = {},
  ): Promise<Score> {
    const names = ["stride", "start", "signal", "onProgress"];
    const { signal, onProgress, ...wanted } = readOptions("score", options, names);
    const request = {
      signal: readSignal(signal),
      onEvent: readCallback<ScoreProgress>("onProgress", onProgress),
      owner: this,
    };
    const args = { ...readGenerateOptions(wanted), prompt: readPrompt("text", text) };
    return this.requester.request("score", args, request);
  }

  /**
   * What the model makes of the token at `position`, by default the last: the `top` (5) likeliest next tokens after each
   * layer, and the attention of `layer`, by default the last, by all of its heads or by `head`. Positions, layers and
   * heads count from 0. The tokens up to there have to fit the context; those that are cached are not run again, and
   * `onProgress` hears of the others.
   */
  async inspect(
    text: Prompt,
    options: CallOptions &
      OrNull<{
        position?: number;
        layer?: number;
        head?: number;
        top?: number;
        onProgress?: (progress: PromptProgress) => void;
      }> = {},
  ): Promise<Inspection> {
    const names = ["position", "layer", "head", "top", "signal", "onProgress"];
    const { signal, onProgress, ...wanted } = readOptions("inspect", options, names);
    const request = {
      signal: readSignal(signal),
      onEvent: readCallback<PromptProgress>("onProgress", onProgress),
      owner: this,
    };
    const args = { ...readGenerateOptions(wanted), prompt: readPrompt("text", text) };
    return this.requester.request("inspect", args, request);
  }

  /** Why it is as fast as it is, and what would make it faster; what this page has and misses. */
  async explain(): Promise<Explanation> {
    const { explainEnvironment, explainSpeed } = await import("./environment.js");
    return explainSpeed(this.info, await explainEnvironment());
  }

  /**
   * Rejects this model's requests under way. The last of those that share a worker ends it and frees its memory;
   * resolves when that has been done.
   */
  async dispose(): Promise<void> {
    return this.requester.dispose();
  }
}
