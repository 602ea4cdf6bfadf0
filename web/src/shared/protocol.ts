// The messages between page and worker. Every request ends in exactly one `done` or `failed`.
import type { KvFormat, WeightFormat } from "./formats.js";
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

/** The most threads that can be requested: kMostThreads in weights_tools/command_line.cc. */
export const threadLimit = 64;

/** A measurement on this device for models of about the same size. */
export interface ThreadChoice {
  /** Identifies the device and the size of the model. */
  key: string;
  /** The fastest number of threads; 0 if it must be measured again. */
  threads: number;
  /** Bytes of weights read per second; undefined if unknown. */
  speed?: number | undefined;
}
/** All measurements by their keys. */
export type ThreadChoices = Readonly<Record<string, Omit<ThreadChoice, "key">>>;

/** A folder on a static host. */
export interface FolderRequest {
  kind: "folder";
  /** Absolute, with a slash at the end. */
  url: string;
  /** The name of the GGUF file in it: the end of its address, percent-encoded. */
  file?: string;
  /** The address's query, with its question mark. Every file is requested with it, as hosts of signed addresses need. */
  query?: string;
  /** The Hub model to load if the host has no such folder. */
  orHub?: HubRequest;
}

export const usualHub = "https://huggingface.co/";
/** The Hub's hosts, as a regular expression. */
export const hubHosts = String.raw`(?:huggingface|hf)\.co`;

/** A model on a hub with Hugging Face's API. */
export interface HubRequest {
  kind: "hub";
  /** The hub's address, with a slash at the end. */
  hub: string;
  /** owner/name */
  id: string;
  /** Branch, tag or commit. */
  revision: string;
  /** The address of the folder that was looked up first. */
  insteadOf?: string;
  /** In place of `file`: the quantization of the GGUF file that is the model, such as "Q8_0". */
  quantization?: string;
  /** The GGUF file that is the model. */
  file?: string;
}

/** Files of this device. */
export interface FilesRequest {
  kind: "files";
  files: { name: string; file: File }[];
  /** Identifies the files, which have no text to compare. */
  key: string;
  /** The GGUF file that is the model. */
  file?: string;
}

/** Where a model is, in a form that the worker can use. */
export type SourceRequest = FolderRequest | HubRequest | FilesRequest;

/** A LoRA adapter, and the factor for its contribution. */
export interface AdapterRequest {
  source: SourceRequest;
  weight: number;
}

export interface LoadRequest {
  source: SourceRequest;
  /** Adapters to merge into the model, in this order; undefined: none. */
  adapters?: readonly AdapterRequest[] | undefined;
  /** Number of threads; undefined: the stored choice, or a measurement. */
  threads: number | undefined;
  threadChoices: ThreadChoices;
  /** Engine build to use; undefined: the best that this browser can run. */
  variant: Variant | undefined;
  kv: KvFormat | undefined;
  /** Prefilled while the weights arrive, unless it is empty. */
  prompt: string | readonly number[];
  /** The format to convert float weights to; undefined: q8. */
  weights: WeightFormat | undefined;
  /** Silence of a host that counts as a broken connection; undefined: the usual one. */
  stallMs: number | undefined;
  /** Whether to store the model on this device and read it from there. */
  cache: boolean;
  /** Sent with every request for a file of the model. */
  headers: readonly (readonly [string, string])[];
  credentials: "omit" | "same-origin" | "include" | undefined;
  /** Whether redirects are allowed; undefined: they are. */
  redirect: "follow" | "error" | undefined;
  /** Set if the page's own `fetch` loads the model's files; undefined: the worker fetches them. */
  fetchPort: FetchPort | undefined;
}

/** The part of MessagePort that both threads' type libraries have. */
export interface FetchPort {
  postMessage(message: unknown, transfer: unknown[]): void;
  onmessage: ((event: { data: unknown }) => void) | null;
  close(): void;
}

/** worker -> page, through the fetchPort: requests a file. `port` carries its messages. */
export interface FetchRequest {
  url: string;
  /**
   * What the host of `url` may get of the caller's options. The header Range asks for the rest of a file; the page's fetch
   * may return the whole file.
   */
  init: RequestInit;
  port: FetchPort;
}

/** worker -> page, through a file's port: requests the next chunk, or cancels. */
export type FetchWant = "more" | "cancel";

/** page -> worker, through a file's port: first the response, then a chunk for each "more". */
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
  /** Changes in the forward pass, which the worker checks. */
  change?: unknown;
  /** Tokens that may be sent before the page has read them (see ToWorker's `read`); Infinity: no limit. */
  ahead: number;
}

export interface PrefillRequest {
  prompt: string | readonly number[];
  allowSpecial: boolean;
}

/** Fields that the worker checks are unknown. */
export interface InspectRequest {
  prompt: string | readonly number[];
  position?: unknown;
  layer?: unknown;
  head?: unknown;
  top?: unknown;
  capture?: unknown;
  positions?: unknown;
  change?: unknown;
}

/** Fields that the engine checks are unknown. */
export interface ScoreRequest {
  prompt: string | readonly number[];
  stride?: unknown;
  start?: unknown;
  change?: unknown;
}

/** Every request: its arguments, its result, and its events. */
export interface Requests {
  load: { args: LoadRequest; result: LoadResult; event: LoadProgress };
  generate: {
    args: GenerateRequest;
    result: GenerateSummary;
    /** Tokens written since the last event. */
    event: { tokens: Token[] } | { prompt: PromptProgress };
  };
  prefill: { args: PrefillRequest; result: Prefilled; event: PromptProgress };
  inspect: { args: InspectRequest; result: Inspection; event: PromptProgress };
  score: { args: ScoreRequest; result: Score; event: ScoreProgress };
  tokenize: {
    args: { text: string; allowSpecial: boolean; places?: boolean | undefined };
    /** The ids; with `places`, where each token begins and ends in the text follows its id. */
    result: number[];
    event: never;
  };
  detokenize: { args: readonly number[]; result: string; event: never };
}
export type RequestName = keyof Requests;

/** An error that is sent between threads. */
export interface WireError {
  code: string;
  message: string;
}

/** page -> worker */
export type ToWorker =
  | { [K in RequestName]: { type: "request"; id: number; name: K; args: Requests[K]["args"] } }[RequestName]
  /** Cancels the request. */
  | { type: "cancel"; id: number }
  /** The number of further tokens of a generation that were read. */
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
  /** What has changed since the load, and a measurement to store in `threadChoices`. */
  | { type: "info"; info: Pick<ModelInfo, "threads" | "notice">; threadChoice?: ThreadChoice }
  /** The first message. If the release differs from the page's, the later messages may not be understood. */
  | { type: "started"; release: string }
  /** The worker holds the lock of this name as long as it lives; null: it has none. */
  | { type: "alive"; lock: string | null }
  | { type: "ended" };
