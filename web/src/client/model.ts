// The public interface: loading a model, and what a loaded one can do.
import { InvalidArgumentError } from "../shared/errors.js";
import type {
  Completion,
  GenerateOptions,
  GenerateSummary,
  LoadProgress,
  ModelInfo,
  PromptProgress,
  Score,
  Token,
  Variant,
} from "../shared/types.js";
import { variants } from "../shared/types.js";
import { Connection } from "./connection.js";
import { startWorker } from "./start-worker.js";
import { readThreadChoices, rememberThreads } from "./thread-choices.js";
import { TokenQueue } from "./token-queue.js";

export interface LoadOptions {
  /** Threads to compute with, 1 to 64; by default as many as were fastest when it was measured, once per device. */
  threads?: number | undefined;
  signal?: AbortSignal | undefined;
  onProgress?: ((progress: LoadProgress) => void) | undefined;
  /** Format of the KV cache; by default as the weights. */
  kv?: "q8" | "f32" | undefined;
  /** Forces a build of the engine; by default the fastest that the browser runs. */
  variant?: Variant | undefined;
}

/** What a caller may pass to `generate` and `complete`. */
export interface GenerateCall extends GenerateOptions {
  signal?: AbortSignal | undefined;
  /** While a long prompt is read. */
  onPrompt?: ((progress: PromptProgress) => void) | undefined;
  /** Once, at the end. */
  onSummary?: ((summary: GenerateSummary) => void) | undefined;
}

const loadOptionNames = ["threads", "signal", "onProgress", "kv", "variant"];

function checkLoadOptions(options: LoadOptions): void {
  for (const name of Object.keys(options)) {
    if (!loadOptionNames.includes(name)) {
      throw new InvalidArgumentError(
        "invalid-argument",
        `there is no option "${name}"; there are ${loadOptionNames.join(", ")}`,
      );
    }
  }
  const { threads, kv, variant } = options;
  if (threads !== undefined && !(Number.isInteger(threads) && threads >= 1 && threads <= 64)) {
    throw new InvalidArgumentError(
      "invalid-argument",
      `threads is ${threads}, expected a whole number from 1 to 64`,
    );
  }
  if (kv !== undefined && kv !== "q8" && kv !== "f32") {
    throw new InvalidArgumentError("invalid-argument", `kv is ${String(kv)}, expected "q8" or "f32"`);
  }
  if (variant !== undefined && !variants.includes(variant)) {
    throw new InvalidArgumentError(
      "invalid-argument",
      `variant is ${String(variant)}, expected one of ${variants.join(", ")}`,
    );
  }
}

/** Loads the model folder at `url`, relative to the page. A failed load can be tried again. */
export async function loadModel(url: string | URL, options: LoadOptions = {}): Promise<Model> {
  checkLoadOptions(options);
  const { signal, onProgress, threads, kv, variant } = options;
  signal?.throwIfAborted();
  const folder = new URL(url, document.baseURI).href.replace(/\/*$/, "/");
  const connection = new Connection(startWorker());
  try {
    const { info, threadChoice } = await connection.request(
      "load",
      { folder, threads, threadChoices: readThreadChoices(), kv, variant },
      { signal, onEvent: onProgress },
    );
    if (threadChoice) rememberThreads(threadChoice.key, threadChoice.threads);
    return new Model(connection, info);
  } catch (error) {
    connection.dispose();
    throw error;
  }
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

/** A loaded model. Requests are answered one after the other, in order. */
export class Model {
  constructor(
    private readonly connection: Connection,
    readonly info: ModelInfo,
  ) {}

  /** Writes on after `prompt`, token by token; those of `n` continuations come in turn. Leaving the loop early stops the model. */
  async *generate(
    prompt: string | readonly number[],
    call: GenerateCall = {},
  ): AsyncGenerator<Token, GenerateSummary, void> {
    const { signal, onPrompt, onSummary, ...options } = call;
    const abandoned = new AbortController();
    const either = signal ? AbortSignal.any([signal, abandoned.signal]) : abandoned.signal;
    const queue = new TokenQueue();
    const summary = this.connection.request(
      "generate",
      { prompt, options },
      {
        signal: either,
        onEvent: (event) => {
          if ("token" in event) queue.push(event.token);
          else onPrompt?.(event.prompt);
        },
      },
    );
    summary.then(
      () => queue.end(),
      () => queue.end(),
    );
    try {
      yield* queue;
      const result = await summary;
      onSummary?.(result);
      return result;
    } finally {
      abandoned.abort();
    }
  }

  /** Writes on after `prompt` and gives everything at once. */
  async complete(prompt: string | readonly number[], call: GenerateCall = {}): Promise<Completion> {
    const all: Token[] = [];
    const stream = this.generate(prompt, call);
    for (;;) {
      const { done, value } = await stream.next();
      if (done) return completionOf(all, value);
      all.push(value);
    }
  }

  async tokenize(text: string, options: { allowSpecial?: boolean } = {}): Promise<number[]> {
    return this.connection.request("tokenize", { text, allowSpecial: options.allowSpecial ?? false });
  }

  /** Bytes that are no whole character come out as U+FFFD. */
  async detokenize(ids: readonly number[]): Promise<string> {
    return this.connection.request("detokenize", ids);
  }

  /**
   * The log-probability of each token of a text. One longer than the context is scored in windows that
   * advance by `stride` tokens, by default half the context.
   */
  async score(
    text: string | readonly number[],
    options: {
      stride?: number | undefined;
      signal?: AbortSignal | undefined;
      onProgress?: (progress: PromptProgress) => void;
    } = {},
  ): Promise<Score> {
    const { stride, signal, onProgress } = options;
    return this.connection.request("score", { prompt: text, stride }, { signal, onEvent: onProgress });
  }

  /** Frees the model's memory and ends its worker; requests under way are rejected. */
  async dispose(): Promise<void> {
    this.connection.dispose();
  }
}
