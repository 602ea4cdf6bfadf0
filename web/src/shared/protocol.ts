// What the page and the worker say to each other. Every request ends in exactly one `done` or `failed`.
import type {
  GenerateOptions,
  GenerateSummary,
  LoadProgress,
  ModelInfo,
  PromptProgress,
  Score,
  Token,
  Variant,
} from "./types.js";

/** Threads that were measured to be fastest, by device and size of model. */
export type ThreadChoices = Readonly<Record<string, number>>;

/** A model folder as the worker can reach it. */
export interface LoadRequest {
  /** Absolute URL of the folder, with a slash at the end. */
  folder: string;
  /** Threads to compute with; undefined: what `threadChoices` knows, else they are measured. */
  threads: number | undefined;
  threadChoices: ThreadChoices;
  /** Engine build to use; undefined: the best that this browser runs. */
  variant: Variant | undefined;
  kv: "q8" | "f32" | undefined;
}

export interface LoadResult {
  info: ModelInfo;
  /** What was measured, to be among `threadChoices` next time. */
  threadChoice: { key: string; threads: number } | undefined;
}

export interface GenerateRequest {
  prompt: string | readonly number[];
  options: GenerateOptions;
}

export interface ScoreRequest {
  prompt: string | readonly number[];
  stride: number | undefined;
}

/** Every request: its argument, what it resolves to, and what it tells on the way. */
export interface Requests {
  load: { args: LoadRequest; result: LoadResult; event: LoadProgress };
  generate: {
    args: GenerateRequest;
    result: GenerateSummary;
    event: { token: Token } | { prompt: PromptProgress };
  };
  score: { args: ScoreRequest; result: Score; event: PromptProgress };
  tokenize: { args: { text: string; allowSpecial: boolean }; result: number[]; event: never };
  detokenize: { args: readonly number[]; result: string; event: never };
}
export type RequestName = keyof Requests;

/** An error that crosses the thread border. */
export interface WireError {
  code: string;
  message: string;
}

/** page -> worker */
export type ToWorker =
  | { [K in RequestName]: { type: "request"; id: number; name: K; args: Requests[K]["args"] } }[RequestName]
  | { type: "cancel"; id: number };

/** worker -> page */
export type FromWorker =
  | { type: "event"; id: number; event: Requests[RequestName]["event"] }
  | { type: "done"; id: number; result: Requests[RequestName]["result"] }
  | { type: "failed"; id: number; error: WireError };

/** The code of a request that its caller gave up; the page turns it into the signal's reason. */
export const cancelledCode = "cancelled";
