// What the page and the worker say to each other. Every request ends in exactly one `done` or `failed`.
import type {
  GenerateOptions,
  GenerateSummary,
  Inspection,
  LoadProgress,
  ModelInfo,
  Prefilled,
  PromptProgress,
  Score,
  ScoreProgress,
  Token,
  Variant,
} from "./types.js";

/** Silence of a host that counts as a broken connection, in milliseconds. */
export const usualStallMs = 20_000;

/** Threads that can be asked for: kMostThreads in weights_tools/command_line.cc. */
export const threadLimit = 64;

/** What was measured on this device for models of about the same size. */
export interface ThreadChoice {
  /** Device and size of model. */
  key: string;
  /** The number of threads that was fastest; 0: it is to be measured anew. */
  threads: number;
  /** Bytes of weights that they read in a second; undefined: that is not known yet. */
  speed?: number | undefined;
}
/** All that was, by their keys. */
export type ThreadChoices = Readonly<Record<string, Omit<ThreadChoice, "key">>>;

/** A folder on a static host. */
export interface FolderRequest {
  kind: "folder";
  /** Absolute, with a slash at the end. */
  url: string;
  /** The GGUF file in it that is the model: the end of its address, percent-encoded and with its query. */
  file?: string;
  /** What was meant where the host has no such folder. */
  orHub?: HubRequest;
}

export const usualHub = "https://huggingface.co/";

/** A model on a hub that answers as Hugging Face's does. */
export interface HubRequest {
  kind: "hub";
  /** Its address, with a slash at the end. */
  hub: string;
  /** owner/name */
  id: string;
  /** Branch, tag or commit. */
  revision: string;
  /** The folder that was looked for first, by its address. */
  insteadOf?: string;
  /** The GGUF file that is the model. */
  file?: string;
}

/** Files of this device. */
export interface FilesRequest {
  kind: "files";
  files: { name: string; file: File }[];
  /** Tells files apart that have no other text to be compared by. */
  key: string;
  /** The GGUF file that is the model. */
  file?: string;
}

/** Where a model is, as the worker can reach it. */
export type SourceRequest = FolderRequest | HubRequest | FilesRequest;

/** A LoRA adapter, and what multiplies what it adds. */
export interface AdapterRequest {
  source: SourceRequest;
  weight: number;
}

export interface LoadRequest {
  source: SourceRequest;
  /** Are merged into the model, in this order; undefined: none. */
  adapters?: readonly AdapterRequest[] | undefined;
  /** Threads to compute with; undefined: what `threadChoices` knows, else they are measured. */
  threads: number | undefined;
  threadChoices: ThreadChoices;
  /** Engine build to use; undefined: the best that this browser runs. */
  variant: Variant | undefined;
  kv: "q8" | "f32" | undefined;
  /** Is prefilled while the weights come; empty: nothing is. */
  prompt: string | readonly number[];
  /** What a model of floats becomes while it is read; undefined: q8. */
  weights: "q8" | "q4" | "f32" | undefined;
  /** Silence of a host that counts as a broken connection; undefined: the usual one. */
  stallMs: number | undefined;
  /** Whether the model is stored on this device, and read from there. */
  cache: boolean;
  /** Of every request for a file of the model. */
  headers: readonly (readonly [string, string])[];
  credentials: "omit" | "same-origin" | "include" | undefined;
  /** Whether a host may redirect; undefined: it may. */
  redirect: "follow" | "error" | undefined;
  /** Where the page's own `fetch` is asked for the model's files; undefined: the worker fetches them. */
  fetchPort: FetchPort | undefined;
}

/** The part of MessagePort that both threads' type libraries have. */
export interface FetchPort {
  postMessage(message: unknown, transfer: unknown[]): void;
  onmessage: ((event: { data: unknown }) => void) | null;
  close(): void;
}

/** worker -> page, through the fetchPort: a file that is wanted. All that belongs to it goes through `port`. */
export interface FetchRequest {
  url: string;
  /** The header Range, where only the rest of a file is wanted; the page's fetch may give all of it. */
  range?: string;
  port: FetchPort;
}

/** worker -> page, through a file's port: the next chunk is wanted, or no more. */
export type FetchWant = "more" | "cancel";

/** page -> worker, through a file's port: first what was answered, then a chunk for each "more". */
export type FetchAnswer =
  | { type: "response"; status: number; statusText: string; headers: [string, string][] }
  | { type: "chunk"; bytes: Uint8Array<ArrayBuffer> }
  | { type: "end" }
  | { type: "failed"; message: string };

export interface LoadResult {
  info: ModelInfo;
}

export interface GenerateRequest {
  prompt: string | readonly number[];
  options: GenerateOptions;
  /** Tokens that may be told before the page has read them (see ToWorker's `read`); Infinity: as many as there are. */
  ahead: number;
}

export interface PrefillRequest {
  prompt: string | readonly number[];
  allowSpecial: boolean;
}

/** What the worker checks of it is unknown. */
export interface InspectRequest {
  prompt: string | readonly number[];
  position?: unknown;
  layer?: unknown;
  head?: unknown;
  top?: unknown;
}

/** What the engine checks of it is unknown. */
export interface ScoreRequest {
  prompt: string | readonly number[];
  stride?: unknown;
  start?: unknown;
}

/** Every request: its argument, what it resolves to, and what it tells on the way. */
export interface Requests {
  load: { args: LoadRequest; result: LoadResult; event: LoadProgress };
  generate: {
    args: GenerateRequest;
    result: GenerateSummary;
    /** Tokens that were written since the last one was told. */
    event: { tokens: Token[] } | { prompt: PromptProgress };
  };
  prefill: { args: PrefillRequest; result: Prefilled; event: PromptProgress };
  inspect: { args: InspectRequest; result: Inspection; event: PromptProgress };
  score: { args: ScoreRequest; result: Score; event: ScoreProgress };
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
  /** The answer is no longer wanted. */
  | { type: "cancel"; id: number }
  /** So many more tokens of a generation have been read. */
  | { type: "read"; id: number; tokens: number }
  /** The network is back. Chromium fires no such event in workers. */
  | { type: "online" }
  /** Ends the engine and its threads; answered with `ended`. */
  | { type: "end" };

/** worker -> page */
export type FromWorker =
  | { type: "event"; id: number; event: Requests[RequestName]["event"] }
  | { type: "done"; id: number; result: Requests[RequestName]["result"] }
  | { type: "failed"; id: number; error: WireError }
  /** What has changed since the model was loaded, and what was measured, to be among `threadChoices` next time. */
  | { type: "info"; info: Pick<ModelInfo, "threads" | "notice">; threadChoice?: ThreadChoice }
  /** The first message. The release has to be the page's: nothing else of what follows is sure to be understood. */
  | { type: "started"; release: string }
  /** In its place, where the worker's script is not as it was built: what follows is of no worth. */
  | { type: "damaged"; what: string }
  /** The worker holds the lock of this name for as long as it lives; null: it has none. */
  | { type: "alive"; lock: string | null }
  | { type: "ended" };
