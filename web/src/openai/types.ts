// The shapes of OpenAI's /v1/completions: https://platform.openai.com/docs/api-reference/completions

export interface CompletionRequest {
  /** Only repeated in the results: the model is the one that `completions` was given. */
  model?: string | null | undefined;
  /** Texts, or ids of tokens: one of them, or a list; by default the end of the last text. */
  prompt?: string | readonly string[] | readonly number[] | readonly (readonly number[])[] | null | undefined;
  /** 16. */
  max_tokens?: number | null | undefined;
  /** 1. */
  temperature?: number | null | undefined;
  /** 1. */
  top_p?: number | null | undefined;
  /** Choices for each prompt, 1 to 16; 1. */
  n?: number | null | undefined;
  /** Choices to write, of which the `n` most probable are given; `n`. */
  best_of?: number | null | undefined;
  stop?: string | readonly string[] | null | undefined;
  /** Alternatives to report with each token. */
  logprobs?: number | null | undefined;
  /** Put the prompt before the text; false. */
  echo?: boolean | null | undefined;
  seed?: number | null | undefined;
  stream?: boolean | null | undefined;
  stream_options?: { include_usage?: boolean | null | undefined } | null | undefined;
  /** Nothing depends on it. */
  user?: string | null | undefined;
  /** Other than 0 it is refused, as is presence_penalty: the engine has repetition_penalty. */
  frequency_penalty?: number | null | undefined;
  presence_penalty?: number | null | undefined;
  /** Refused where it says anything. */
  logit_bias?: Readonly<Record<string, number>> | null | undefined;
  /** Refused where it says anything: GPT-2 only writes on. */
  suffix?: string | null | undefined;
  /** Not OpenAI's, but that of other servers; 0 keeps all tokens, as it does by default. */
  top_k?: number | null | undefined;
  /** As top_k; 0. */
  min_p?: number | null | undefined;
  /** As top_k; 1. */
  repetition_penalty?: number | null | undefined;
}

export interface CompletionLogprobs {
  tokens: string[];
  /** null for the first token of all. */
  token_logprobs: (number | null)[];
  /** The most probable at each place, and the token itself; null where `logprobs` is 0. */
  top_logprobs: (Record<string, number> | null)[] | null;
  /** Where in prompt and text each token begins, in JavaScript's characters. */
  text_offset: number[];
}

export interface CompletionChoice {
  text: string;
  index: number;
  logprobs: CompletionLogprobs | null;
  finish_reason: "stop" | "length";
}

export interface CompletionUsage {
  prompt_tokens: number;
  completion_tokens: number;
  total_tokens: number;
}

export interface CompletionResult {
  id: string;
  object: "text_completion";
  /** Seconds since 1970. */
  created: number;
  model: string;
  system_fingerprint: string;
  choices: CompletionChoice[];
  usage: CompletionUsage;
}

/** A part of a streamed result: what has been written of a choice since the last. */
export interface CompletionChunk extends Omit<CompletionResult, "choices" | "usage"> {
  choices: (Omit<CompletionChoice, "finish_reason"> & { finish_reason: "stop" | "length" | null })[];
  /** In one more chunk without choices, where stream_options.include_usage asks for it. */
  usage?: CompletionUsage;
}

/** Leaving the loop early stops the model. Aborting the controller ends the loop without an error. */
export interface CompletionStream extends AsyncIterable<CompletionChunk> {
  readonly controller: AbortController;
  /** Two streams of the same chunks, each read at its own pace. */
  tee(): [CompletionStream, CompletionStream];
  /** The chunks as lines of JSON, in UTF-8. */
  toReadableStream(): ReadableStream<Uint8Array>;
}

/** As of OpenAI's client. There is no server: the response has the status 200, and no body. */
export interface CompletionPromise<T> extends Promise<T> {
  asResponse(): Promise<Response>;
  withResponse(): Promise<{ data: T; response: Response; request_id: null }>;
}
