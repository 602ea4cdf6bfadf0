// What a loaded model can do.
import type {
  Completion,
  GenerateOptions,
  GenerateSummary,
  ModelInfo,
  Prompt,
  PromptProgress,
  Score,
  Token,
} from "../shared/types.js";
import {
  readCallback,
  readCount,
  readFlag,
  readGenerateOptions,
  readOptions,
  readPrompt,
  readSignal,
  readText,
  readTokenIds,
} from "./arguments.js";
import type { Connection } from "./connection.js";
import { TokenQueue } from "./token-queue.js";

export interface CallOptions {
  signal?: AbortSignal | undefined;
}

/** What a caller may pass to `generate` and `complete`. */
export interface GenerateCall extends GenerateOptions, CallOptions {
  /** While a long prompt is read. */
  onPrompt?: ((progress: PromptProgress) => void) | undefined;
  /** Once, at the end. */
  onSummary?: ((summary: GenerateSummary) => void) | undefined;
}

/** Tokens by which a generation may be ahead of its reader, and after how many of them the worker is told. */
const mostUnread = 256;
const readBatch = 64;

/** Models that nobody holds any more are disposed of. */
const forgotten = new FinalizationRegistry<Connection>((connection) => void connection.dispose());

function readCall(call: unknown) {
  const { signal, onPrompt, onSummary, ...options } = readOptions("generate", call);
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

/**
 * A loaded model. Requests are answered one after the other, in order; a generation that waits for its reader
 * lets others go first. It is disposed of when it is collected as garbage.
 */
export class Model {
  constructor(
    private readonly connection: Connection,
    readonly info: ModelInfo,
  ) {
    connection.onInfo = (changed) => void Object.assign(info, changed);
    forgotten.register(this, connection);
  }

  /**
   * Writes on after `prompt`, token by token; those of `n` continuations come in turn. Leaving the loop early stops
   * the model. It is at most a few hundred tokens ahead of the loop: then it waits.
   */
  async *generate(prompt: Prompt, call: GenerateCall = {}): AsyncGenerator<Token, GenerateSummary, void> {
    const { signal, onPrompt, onSummary, options } = readCall(call);
    const queue: TokenQueue = new TokenQueue((tokens) => request.read(tokens), readBatch);
    const request = this.connection.open(
      "generate",
      { prompt: readPrompt("prompt", prompt), options, ahead: mostUnread },
      {
        signal,
        onEvent: (event) => {
          if ("token" in event) queue.push(event.token);
          else onPrompt?.(event.prompt);
        },
      },
    );
    request.result.then(
      () => queue.finish(),
      (error: unknown) => queue.fail(error),
    );
    try {
      for (;;) {
        const token = await queue.next();
        signal?.throwIfAborted(); // whatever has arrived before
        if (!token) break;
        yield token;
      }
      const summary = await request.result;
      onSummary?.(summary);
      return summary;
    } finally {
      request.cancel(new Error("the loop was left"));
    }
  }

  /** Writes on after `prompt` and gives everything at once. */
  async complete(prompt: Prompt, call: GenerateCall = {}): Promise<Completion> {
    const { signal, onPrompt, onSummary, options } = readCall(call);
    const tokens: Token[] = [];
    const summary = await this.connection.request(
      "generate",
      { prompt: readPrompt("prompt", prompt), options, ahead: Infinity },
      {
        signal,
        onEvent: (event) => {
          if ("token" in event) tokens.push(event.token);
          else onPrompt?.(event.prompt);
        },
        owner: this,
      },
    );
    onSummary?.(summary);
    return completionOf(tokens, summary);
  }

  async tokenize(
    text: string,
    options: CallOptions & { allowSpecial?: boolean | undefined } = {},
  ): Promise<number[]> {
    const { signal, allowSpecial } = readOptions("tokenize", options, ["allowSpecial", "signal"]);
    const args = { text: readText("text", text), allowSpecial: readFlag("allowSpecial", allowSpecial) };
    return this.connection.request("tokenize", args, { signal: readSignal(signal), owner: this });
  }

  /** Bytes that are no whole character come out as U+FFFD. */
  async detokenize(ids: readonly number[] | Uint32Array, options: CallOptions = {}): Promise<string> {
    const { signal } = readOptions("detokenize", options, ["signal"]);
    const request = { signal: readSignal(signal), owner: this };
    return this.connection.request("detokenize", readTokenIds("ids", ids), request);
  }

  /**
   * The log-probability of each token of a text. One longer than the context is scored in windows that
   * advance by `stride` tokens, by default half the context.
   */
  async score(
    text: Prompt,
    options: CallOptions & {
      stride?: number | undefined;
      onProgress?: ((progress: PromptProgress) => void) | undefined;
    } = {},
  ): Promise<Score> {
    const { stride, signal, onProgress } = readOptions("score", options, ["stride", "signal", "onProgress"]);
    return this.connection.request(
      "score",
      { prompt: readPrompt("text", text), stride: readCount("stride", stride, 1) },
      {
        signal: readSignal(signal),
        onEvent: readCallback<PromptProgress>("onProgress", onProgress),
        owner: this,
      },
    );
  }

  /** Frees the model's memory and ends its worker, and resolves when it has; requests under way are rejected. */
  async dispose(): Promise<void> {
    return this.connection.dispose();
  }
}
