// The shapes of OpenAI's /v1/completions: https://platform.openai.com/docs/api-reference/completions
import type { CompletionNumbers } from "../shared/generate-options.js";

/**
 * A request, with the names and defaults of OpenAI's API. Of the numbers that control how to sample, that API has only
 * `max_tokens`, `temperature`, `top_p`, `frequency_penalty`, `presence_penalty` and `seed`. The others are those of other
 * servers.
 */
export interface CompletionRequest extends CompletionNumbers {
  /** A name that the results repeat. It chooses nothing: the model is the one that you pass to `completions`. */
  model?: string | null | undefined;
  /** A text, token ids, or a list of either; "" by default. */
  prompt?: string | readonly string[] | readonly number[] | readonly (readonly number[])[] | null | undefined;
  /** Number of choices for each prompt, 1 to 16; default 1. */
  n?: number | null | undefined;
  /** Number of choices to write, of which the `n` most probable are returned; default `n`. */
  best_of?: number | null | undefined;
  /** End the text before the first of these strings. */
  stop?: string | readonly string[] | null | undefined;
  /** Number of alternatives to report with each token. */
  logprobs?: number | null | undefined;
  /** Put the prompt before the text; default false. */
  echo?: boolean | null | undefined;
  /** Whether the result is a stream of chunks; default false. */
  stream?: boolean | null | undefined;
  /** `include_usage` adds a last chunk with `usage`. */
  stream_options?: { include_usage?: boolean | null | undefined } | null | undefined;
  /** Ignored. */
  user?: string | null | undefined;
  /** Refused unless it is empty. */
  logit_bias?: Readonly<Record<string, number>> | null | undefined;
  /** Refused unless it is empty: GPT-2 only continues text. */
  suffix?: string | null | undefined;
}

/** The log-probabilities of a choice, one item for each token. */
export interface CompletionLogprobs {
  /** The text of each token. A part of a character is `bytes:\xe2\x80`, as in OpenAI's API. */
  tokens: string[];
  /** The log-probability of each token; null for the first token of an echoed prompt. */
  token_logprobs: (number | null)[];
  /**
   * The most probable tokens at each place, and the token itself; null if `logprobs` is 0. Of tokens with the same text, the
   * less probable ones are ` (token ID)` longer.
   */
  top_logprobs: (Record<string, number> | null)[] | null;
  /** Where each token begins in prompt and text, in UTF-16 units. */
  text_offset: number[];
}

/** One of the texts that a request wrote. */
export interface CompletionChoice {
  /** Its text; with `echo`, after the prompt. */
  text: string;
  /** Its number, from 0. */
  index: number;
  /** Its log-probabilities; null without `logprobs`. */
  logprobs: CompletionLogprobs | null;
  /** `"stop"`: at the end-of-text token or a text of `stop`. `"length"`: after `max_tokens`. */
  finish_reason: "stop" | "length";
}

/** How many tokens a request took. */
export interface CompletionUsage {
  /** Tokens of all prompts. */
  prompt_tokens: number;
  /** Tokens that were written. */
  completion_tokens: number;
  /** The sum of both. */
  total_tokens: number;
}

/** The result of a request. */
export interface CompletionResult {
  /** A random id. */
  id: string;
  /** The type of the object, as in OpenAI's API. */
  object: "text_completion";
  /** When the request began, in seconds since 1970. */
  created: number;
  /** The `model` of the request. */
  model: string;
  /** Names the engine and the format of the weights. */
  system_fingerprint: string;
  /** The texts, `n` for each prompt. */
  choices: CompletionChoice[];
  /** How many tokens it took. */
  usage: CompletionUsage;
}

/** A part of a streamed result: the new text of a choice. */
export interface CompletionChunk extends Omit<CompletionResult, "choices" | "usage"> {
  /** The choice that has new text; `finish_reason` is null until its last chunk. */
  choices: (Omit<CompletionChoice, "finish_reason"> & {
    finish_reason: "stop" | "length" | null;
  })[];
  /** In a last chunk without choices, with `stream_options.include_usage`. */
  usage?: CompletionUsage;
}

/** The chunks of a streamed result, to be read once. Leaving the loop early stops the model. */
export interface CompletionStream extends AsyncIterable<CompletionChunk> {
  /** Aborting it ends the loop without an error. */
  readonly controller: AbortController;
  /** Two streams of the same chunks. Each is read at its own pace. */
  tee(): [CompletionStream, CompletionStream];
  /** The chunks as lines of JSON, in UTF-8. */
  toReadableStream(): ReadableStream<Uint8Array>;
}

/**
 * A promise with the methods of OpenAI's client. There is no server: the response is what one would send, with the status
 * 200. Of a stream, read either the chunks or the response's body.
 */
export interface CompletionPromise<T> extends Promise<T> {
  /** Resolves to the response alone. */
  asResponse(): Promise<Response>;
  /** Resolves to the result and the response. */
  withResponse(): Promise<{
    data: T;
    response: Response;
    request_id: null;
  }>;
}

/** Options of `create`, beside the request. */
export interface CompletionOptions {
  /** Aborts the request. A stream ends without an error. */
  signal?: AbortSignal | null | undefined;
}

/** What `completions` returns: it takes the place of `client.completions` of OpenAI's library. */
export interface Completions {
  /** Runs a request. With `stream: true` it resolves to a stream of chunks. */
  create(
    request: CompletionRequest & { stream: true },
    options?: CompletionOptions,
  ): CompletionPromise<CompletionStream>;
  create(
    request: CompletionRequest & { stream?: false | null | undefined },
    options?: CompletionOptions,
  ): CompletionPromise<CompletionResult>;
  create(
    request: CompletionRequest,
    options?: CompletionOptions,
  ): CompletionPromise<CompletionResult | CompletionStream>;
}
