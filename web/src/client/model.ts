// What a loaded model can do.
/// <reference lib="esnext.disposable" preserve="true" />
import type {
  Change,
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
  TokenizedText,
} from "../shared/types.js";
import { generateOptionNames } from "../shared/generate-options.js";
import { readFlag, readGenerateOptions, readPrompt, readText } from "./arguments.js";
import { readCallback, readOptions, readSignal, readTokenIds } from "../shared/arguments.js";
import { refuse } from "../shared/refuse.js";
import type { Attribution, HeadScores, Neighbour, PatchMap } from "./causes.js";
import type { Connection } from "./connection.js";
import type { Explanation } from "./environment.js";
import { TokenQueue } from "./token-queue.js";

/** Allows null to mean "not given", like undefined. */
type OrNull<T> = { [K in keyof T]: T[K] | null };

/** Options that every call has. */
export interface CallOptions {
  /** Aborts the call: it settles at once, and yields no further token. */
  signal?: AbortSignal | null | undefined;
}

/** Options of `tokenize`. */
export interface TokenizeOptions extends CallOptions {
  /** Read "<|endoftext|>" in the text as the token, not as text; default false. */
  allowSpecial?: boolean | null | undefined;
}

/** Options of `prefill`. */
export interface PrefillOptions extends TokenizeOptions {
  /** Called after each batch of tokens. */
  onProgress?: ((progress: PromptProgress) => void) | null | undefined;
}

/** Options of `score`. */
export interface ScoreOptions extends CallOptions {
  /** Tokens by which a window advances, for a text longer than the context; default half the context. */
  stride?: number | null | undefined;
  /** The index of the first token to score; default 0. */
  start?: number | null | undefined;
  /** Changes in the forward pass. */
  change?: readonly Change[] | null | undefined;
  /** Called with the scores while they are computed. */
  onProgress?: ((progress: ScoreProgress) => void) | null | undefined;
}

/** Options of `inspect`. Positions, layers and heads count from 0. */
export interface InspectOptions extends CallOptions {
  /** The index of the token to inspect; the last by default. */
  position?: number | null | undefined;
  /** The layer whose attention is returned; the last by default. */
  layer?: number | null | undefined;
  /** One head of that layer; all by default. */
  head?: number | null | undefined;
  /** Number of guesses after each layer; default 5. */
  top?: number | null | undefined;
  /**
   * The names of places whose values to return: `"blocks.3.attn.pattern"`, or `"blocks.*.resid_post"` for every layer. They have
   * TransformerLens's names, with `hook_` or without.
   */
  capture?: readonly string[] | null | undefined;
  /** The positions to capture; by default all. */
  positions?: readonly number[] | null | undefined;
  /** Changes in the forward pass. */
  change?: readonly Change[] | null | undefined;
  /** Called after each batch of tokens. */
  onProgress?: ((progress: PromptProgress) => void) | null | undefined;
}

/** Options of `patchMap`. */
export interface PatchOptions extends CallOptions {
  /** The token whose logit is measured: its text or its id. */
  token: string | number;
  /** The token whose logit is subtracted; by default none. */
  against?: string | number | null | undefined;
  /** The place in each layer; default `"resid_post"`. */
  at?: "resid_pre" | "attn_out" | "resid_mid" | "mlp_out" | "resid_post" | null | undefined;
  /** Called after each patch. */
  onProgress?: ((progress: PromptProgress) => void) | null | undefined;
}

/** Options of `attribute`. */
export interface AttributeOptions extends CallOptions {
  /** The token whose logit is divided: its text or its id; by default the model's guess. */
  token?: string | number | null | undefined;
  /** The token whose logit is subtracted; by default none. */
  against?: string | number | null | undefined;
  /** Called while the heads are divided among the tokens that they read. */
  onProgress?: ((progress: PromptProgress) => void) | null | undefined;
}

/** Options of `generate`, `stream` and `complete`. */
export interface GenerateCall extends OrNull<Omit<GenerateOptions, "seed">>, CallOptions {
  /** The same seed gives the same text on every machine; by default a random one, which the summary reports. */
  seed?: number | bigint | null | undefined;
  /** Changes in the forward pass, at the prompt and at what the model writes. Other requests are not affected. */
  change?: readonly Change[] | null | undefined;
  /** Called while a long prompt is computed. */
  onPrompt?: ((progress: PromptProgress) => void) | null | undefined;
  /** Called once, at the end. */
  onSummary?: ((summary: GenerateSummary) => void) | null | undefined;
}

/** Options of `fill`. */
export type FillCall = Omit<GenerateCall, "heal" | "strict" | "allowSpecial">;

const causes = () => import("./causes.js");

/** How many tokens a generation may be ahead of its reader, and after how many read tokens the worker is notified. */
const mostUnread = 256;
const readBatch = 64;

/** The part of Connection that a model uses. */
type Requester = Pick<Connection, "open" | "request" | "dispose">;

/** No member of the class: frameworks map its type, which drops private members, and objects of the two types would differ. */
const requesterOf = (model: Model) => Reflect.get(model, "requester") as Requester;

/** Disposes of models that are garbage-collected. */
const forgotten = new FinalizationRegistry<Requester>((requester) => void requester.dispose());

/** Stops generations whose reader was garbage-collected before their end. */
const unread = new FinalizationRegistry<Reading["stop"]>((stop) => stop(new Error("nothing reads it")));

const callNames = ["change", "signal", "onPrompt", "onSummary"];

function readCall(name: string, call: unknown) {
  const names = [...generateOptionNames, ...callNames];
  const { signal, onPrompt, onSummary, change, ...options } = readOptions(name, call, names);
  return {
    change,
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
  /** undefined after the last token. Rejects at once when the signal is aborted, even if tokens have arrived. */
  next(): Promise<Token | undefined>;
  /** Call this after the last token. */
  finish(): Promise<GenerateSummary>;
  /** Stops the model, if it has not finished. */
  stop(reason: unknown): void;
  /** Keeps the model alive while a reader holds the iterator. */
  model: Model;
}

function startReading(
  model: Model,
  prompt: Prompt,
  { signal, onPrompt, onSummary, options, change }: ReturnType<typeof readCall>,
): Reading {
  const queue: TokenQueue = new TokenQueue((tokens) => request.read(tokens), readBatch);
  const request = requesterOf(model).open(
    "generate",
    { prompt: readPrompt("prompt", prompt), options, change, ahead: mostUnread },
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
  const reading: Reading = {
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
    model,
  };
  unread.register(reading, request.cancel);
  return reading;
}

/**
 * A loaded model. Requests are answered one after another, except `detokenize`, which does not wait; a generation that
 * waits for its reader lets others run. Models that load with the same options share one worker and one copy of the
 * weights. Each is disposed of separately: by `dispose`, by `await using`, or when it is garbage-collected.
 */
export class Model {
  /** Calls `dispose`, for `await using`. */
  declare readonly [Symbol.asyncDispose]: () => Promise<void>;

  static {
    // In browsers without the symbol, compilers of `await using` look for this one.
    const key = (Symbol.asyncDispose as symbol | undefined) ?? Symbol.for("Symbol.asyncDispose");
    Object.defineProperty(this.prototype, key, {
      value(this: Model) {
        return this.dispose();
      },
    });
  }

  /** Facts about the model: config, memory, threads, build. */
  readonly info: ModelInfo;

  /** @internal */
  constructor(requester: Requester, info: ModelInfo) {
    // Vue wraps what is read from a reactive object, unless it cannot be extended.
    Object.defineProperty(this, "requester", { value: Object.preventExtensions(requester), writable: true });
    this.info = info;

    forgotten.register(this, requester, this);
  }

  /**
   * Continues `prompt`, token by token. With `n`, the `index` of each token is that of its continuation. Leaving the loop early
   * stops the model. Generation pauses when it is 256 tokens ahead of its reader. Other requests run meanwhile, also if an iterator
   * is dropped without `return()`: its generation ends when it is garbage-collected.
   */
  async *generate(prompt: Prompt, call: GenerateCall = {}): AsyncGenerator<Token, GenerateSummary, void> {
    const reading = startReading(this, prompt, readCall("generate", call));
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
   * Continues `prompt` as a stream of text. `model.stream(prompt).pipeThrough(new TextEncoderStream())` is the body of a Response.
   * Generation pauses for its reader, and stops when the stream is cancelled. `n` must be 1.
   */
  stream(prompt: Prompt, call: GenerateCall = {}): ReadableStream<string> {
    const wanted = readCall("stream", call);
    const { n = 1 } = wanted.options;
    if (n !== 1)
      refuse(`n is ${n}, but a stream is one text; use generate, whose tokens name their continuation`);
    const reading = startReading(this, prompt, wanted);
    return new ReadableStream<string>(
      {
        pull: async (controller) => {
          for (;;) {
            const token = await reading.next();
            if (token?.text) return controller.enqueue(token.text);
            if (token) continue; // the character is incomplete so far
            await reading.finish();
            return controller.close();
          }
        },
        cancel: (reason) => reading.stop(reason),
      },
      { highWaterMark: 0 }, // tokens wait in the queue, not in the stream
    );
  }

  /** Continues `prompt`, and resolves to the complete result. */
  async complete(prompt: Prompt, call: GenerateCall = {}): Promise<Completion> {
    const { signal, onPrompt, onSummary, options, change } = readCall("complete", call);
    const tokens: Token[] = [];
    const summary = await requesterOf(this).request(
      "generate",
      { prompt: readPrompt("prompt", prompt), options, change, ahead: Infinity },
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
   * Writes the text between `before` and `after`, up to the end-of-text token. The tokenizer must have the tokens
   * `<fim_prefix>`, `<fim_suffix>` and `<fim_middle>` (StarCoder), or the same with hyphens (SantaCoder). Both texts and
   * `maxNewTokens` must fit the context: nothing is cut.
   */
  async fill(before: string, after: string, call?: FillCall): Promise<Completion> {
    return (await import("./fill.js")).fill(this, before, after, call);
  }

  /**
   * Computes the KV cache of `text` in the background. A generation whose prompt begins with that text then computes only the
   * rest, with bit-identical output. Cached tokens at the text's beginning are kept: after a keystroke, only the tokens from the
   * first changed one on are computed. Another request waits for at most 16 tokens, and ends this one if it needs the cache.
   */
  async prefill(text: Prompt, options: PrefillOptions = {}): Promise<Prefilled> {
    const names = ["allowSpecial", "signal", "onProgress"];
    const { allowSpecial, signal, onProgress } = readOptions("prefill", options, names);
    return requesterOf(this).request(
      "prefill",
      { prompt: readPrompt("text", text), allowSpecial: readFlag("allowSpecial", allowSpecial) },
      {
        signal: readSignal(signal),
        onEvent: readCallback<PromptProgress>("onProgress", onProgress),
        owner: this,
      },
    );
  }

  /**
   * The ids of a text's tokens; with `places`, also where each token is in the text. With `allowSpecial`, "<|endoftext|>" is
   * read as the token, not as text.
   */
  tokenize(text: string, options: TokenizeOptions & { places: true }): Promise<TokenizedText>;
  tokenize(text: string, options?: TokenizeOptions): Promise<number[]>;
  async tokenize(
    text: string,
    options: TokenizeOptions & { places?: boolean } = {},
  ): Promise<number[] | TokenizedText> {
    const names = ["allowSpecial", "places", "signal"];
    const { signal, allowSpecial, places } = readOptions("tokenize", options, names);
    const args = {
      text: readText("text", text),
      allowSpecial: readFlag("allowSpecial", allowSpecial),
      places: readFlag("places", places) || undefined,
    };
    const all = await requesterOf(this).request("tokenize", args, {
      signal: readSignal(signal),
      owner: this,
    });
    const every = (part: number) => all.filter((_, index) => index % 3 === part);
    return args.places ? { ids: every(0), starts: every(1), ends: every(2) } : all;
  }

  /** The text of token ids. Bytes that are not whole characters become U+FFFD, as with TextDecoder. */
  async detokenize(ids: TokenIds, options: CallOptions = {}): Promise<string> {
    const { signal } = readOptions("detokenize", options, ["signal"]);
    const request = { signal: readSignal(signal), owner: this };
    return requesterOf(this).request("detokenize", readTokenIds("ids", ids), request);
  }

  /**
   * The log-probability of each token of a text. A text longer than the context is scored in windows that advance by `stride`
   * tokens, by default half the context. With `start`, only the tokens from that index on are scored, with bit-identical values;
   * cached tokens before them are not computed again. `onProgress` receives the scores while they are computed.
   */
  async score(text: Prompt, options: ScoreOptions = {}): Promise<Score> {
    const names = ["stride", "start", "change", "signal", "onProgress"];
    const { signal, onProgress, change, ...wanted } = readOptions("score", options, names);
    const request = {
      signal: readSignal(signal),
      onEvent: readCallback<ScoreProgress>("onProgress", onProgress),
      owner: this,
    };
    const args = { ...readGenerateOptions(wanted), change, prompt: readPrompt("text", text) };
    return requesterOf(this).request("score", args, request);
  }

  /**
   * The model's guesses and attention at the token at `position`, by default the last. The guesses are the `top` (5) most
   * probable next tokens after each layer. The attention is that of `layer`, by default the last, for all heads or for `head`.
   * Positions, layers and heads count from 0. The tokens up to `position` must fit the context. `capture` and `change` read and
   * change values inside the model.
   */
  async inspect(text: Prompt, options: InspectOptions = {}): Promise<Inspection> {
    const names = [
      "position",
      "layer",
      "head",
      "top",
      "capture",
      "positions",
      "change",
      "signal",
      "onProgress",
    ];
    const { signal, onProgress, change, capture, positions, ...wanted } = readOptions(
      "inspect",
      options,
      names,
    );
    const request = {
      signal: readSignal(signal),
      onEvent: readCallback<PromptProgress>("onProgress", onProgress),
      owner: this,
    };
    const args = {
      ...readGenerateOptions(wanted),
      change,
      capture,
      positions,
      prompt: readPrompt("text", text),
    };
    return requesterOf(this).request("inspect", args, request);
  }

  /** How each head attends to a random text that is repeated: to the token before, to the first, and by induction. */
  async heads(options: CallOptions & { seed?: number } = {}): Promise<HeadScores[]> {
    return (await causes()).heads(this, options);
  }

  /**
   * Patches each place of `corrupted` with what `clean` has there, one at a time. Each time, it measures the logit of `token` after
   * the text, minus that of `against`. Both texts need the same number of tokens. `at` is `"resid_post"` by default.
   */
  async patchMap(clean: Prompt, corrupted: Prompt, options: PatchOptions): Promise<PatchMap> {
    return (await causes()).patchMap(this, clean, corrupted, options);
  }

  /**
   * What each part of the model adds to the logit of `token` after the text, minus that of `against`. The parts are the embeddings,
   * each head, also by the token that it reads, and each MLP. By default, `token` is the model's guess.
   */
  async attribute(text: Prompt, options: AttributeOptions = {}): Promise<Attribution> {
    return (await causes()).attribute(this, text, options);
  }

  /** The tokens whose rows in the output layer are most similar to that of `token`, its text or its id; by default 10. */
  async neighbours(
    token: string | number,
    options: CallOptions & { top?: number | null | undefined } = {},
  ): Promise<Neighbour[]> {
    return (await causes()).neighbours(this, token, options);
  }

  /** A vector of length 1 for each text: the mean of its final hidden states, or with `pooling: "last"` the last of them. */
  async embed(
    texts: readonly Prompt[],
    options: CallOptions & { pooling?: "mean" | "last" } = {},
  ): Promise<Float32Array[]> {
    return (await causes()).embed(this, texts, options);
  }

  /**
   * The difference between the means of two lists of texts at a place, such as `"blocks.6.resid_pre"`. Add it there to steer the
   * model: `{ at, add: vector, weight: 4 }`.
   */
  async steer(
    positive: readonly Prompt[],
    negative: readonly Prompt[],
    at: string,
    options: CallOptions = {},
  ): Promise<Float32Array> {
    return (await causes()).steer(this, positive, negative, at, options);
  }

  /** Why the model is as fast as it is, and what would make it faster: the exact header or setting. */
  async explain(): Promise<Explanation> {
    const { explainEnvironment, explainSpeed } = await import("./environment.js");
    return explainSpeed(this.info, await explainEnvironment());
  }

  /**
   * Disposes of the model: its unfinished requests reject. The last model of a worker ends it and frees its memory; the promise
   * resolves after that.
   */
  async dispose(): Promise<void> {
    // The registry holds the requester, whose error holds this model: its stack has the objects of its calls.
    forgotten.unregister(this);
    return requesterOf(this).dispose();
  }
}
