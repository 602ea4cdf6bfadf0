// Where a model's files come from: an interface for hosts, caches, the Hub and local files.
import type { WeightFormat } from "../../shared/formats.js";
import { Gpt2Error, LoadError, reasonOf } from "../../shared/errors.js";
import { fileAddress, problemOfFileName } from "../../shared/file-names.mjs";
import type { FolderRequest } from "../../shared/protocol.js";
import { describeValue } from "../../shared/refuse.js";
import { byteReader, type ByteReader } from "./byte-streams.js";
import { adviceOn } from "./retry-after.js";

/** Reads files of one model folder by name. */
export interface ModelSource {
  /**
   * The id of the model: its folder's absolute URL, or `hf:owner/name@revision`, and its adapters, as withAdapters writes
   * them. Files of this device have none.
   */
  readonly id?: string | undefined;
  /**
   * The format to which a float model is converted while it is read. There may be no weights.json then, and
   * model.safetensors has the form that `gpt2-weights convert` makes.
   */
  readonly weights?: WeightFormat | undefined;
  /** Streams the bytes of a file. Throws a LoadError that names the file if it cannot be opened. */
  open(name: string, options: OpenOptions): Promise<OpenFile>;
  /** The host's own name for the current version of the model; undefined if unknown. */
  version?(signal: AbortSignal): Promise<string | undefined>;
  /** The same for the adapters to merge; missing if there are none. */
  adapterVersion?(signal: AbortSignal): Promise<string | undefined>;
  /** The names of all files, if known. */
  list?(signal: AbortSignal): Promise<string[] | undefined>;
  /**
   * What to try after a failed load: another source, or "again": the same one without what is stored; undefined if nothing
   * else can be tried.
   */
  another?(): ModelSource | "again" | undefined;
  /** Why the model is not stored on this device, in words. Null if it is stored, or if storing was not requested. */
  notStored?(): Promise<string | null>;
}

export interface OpenOptions {
  signal: AbortSignal;
  /** Whether to bypass caches. */
  reload?: boolean;
  /** Byte offset where the stream starts; 0 by default. */
  from?: number;
}

/** A file from memory. Not through a Blob: in WebKit, the worker of a page opened from disk cannot read blobs. */
export function fileOf(bytes: Uint8Array): OpenFile {
  const stream = new ReadableStream<Uint8Array>({
    start(controller) {
      if (bytes.length > 0) controller.enqueue(bytes);
      controller.close();
    },
  });
  return { size: bytes.length, stream };
}

export interface OpenFile {
  /** Bytes of the whole file; undefined if the host does not state it, or only a part was requested. */
  size: number | undefined;
  /** Starts at the requested offset. A chunk is valid until the next is requested: its memory may be reused. */
  stream: ReadableStream<Uint8Array>;
  /** Where the first bytes come from; the network by default. */
  origin?: "cache";
  /** For a file that is converted from others while it is read: how much of those was read. */
  made?: ReadOfInputs;
}

/** Progress of reading the files from which another file is made. */
export interface ReadOfInputs {
  readBytes: number;
  /** undefined while it is unknown. */
  totalBytes: number | undefined;
}

/**
 * Whether there is no such file, for callers that can do without it. Hosts that do not list their files, such as S3, refuse
 * a file that does not exist.
 */
export const isMissing = (error: unknown): error is LoadError =>
  error instanceof LoadError &&
  (error.code === "not-found" || ("mayBeMissing" in error && error.mayBeMissing === true));

/** Whether an answer is a web page: hosts of single-page applications answer any address with their page. */
export const isPage = ({ headers }: Response): boolean =>
  headers.get("content-type")?.startsWith("text/html") ?? false;

/** The host's answer for the file at `url`. Throws a LoadError that names the file if it is not available. */
export async function fetchFile(
  url: string,
  signal: AbortSignal,
  ask: typeof fetch,
  init: RequestInit = {},
): Promise<Response> {
  let response: Response;
  try {
    response = await ask(url, { ...init, signal });
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof Gpt2Error) throw error;
    throw new LoadError("network", `cannot fetch ${url}: ${reasonOf(error)}`);
  }
  if (!response.ok) {
    const { status, statusText } = response;
    const code = status === 404 || status === 410 ? "not-found" : "network";
    const refusal = new LoadError(
      code,
      `cannot fetch ${url}: the host answered ${status} ${statusText}${adviceOn(response)}`,
    );
    throw Object.assign(refusal, { mayBeMissing: status === 401 || status === 403 });
  }
  if (isPage(response)) {
    throw new LoadError("not-found", `cannot fetch ${url}: the host answered with a web page`);
  }
  return response;
}

/** A folder on a static host. */
export class UrlSource implements ModelSource {
  readonly id: string;
  /** Absolute, with a slash at the end. */
  private readonly folder: string;
  private readonly ask: typeof fetch;
  private readonly given: Pick<FolderRequest, "file" | "query">;

  /**
   * `ask` must honour `Range` for every host, as steadyFetch does; its chunks may be "passing". `given` is the end of an
   * address as the caller wrote it: `file` is opened at exactly that address, and every file with `query`.
   */
  constructor(
    folder: string,
    ask: typeof fetch = (...args) => fetch(...args),
    given: UrlSource["given"] = {},
  ) {
    this.id = folder;
    this.folder = folder;
    this.ask = ask;
    this.given = given;
  }

  private addressOf(name: string): string {
    const { file, query = "" } = this.given;
    if (name === file) return this.folder + name + query;
    const problem = problemOfFileName(name);
    if (problem === undefined) return fileAddress(this.folder, name) + query;
    throw new LoadError(
      "corrupt",
      `${describeValue(name)} is not the name of a file of the model: ${problem}`,
    );
  }

  async open(name: string, { signal, reload = false, from = 0 }: OpenOptions): Promise<OpenFile> {
    const url = this.addressOf(name);
    const response = await fetchFile(url, signal, this.ask, {
      ...(reload && { cache: "reload" }),
      ...(from > 0 && { headers: { Range: `bytes=${from}-` } }),
    });
    // A host that compresses on the fly states the compressed length.
    const encoded = response.headers.get("content-encoding") !== null;
    const length = Number(response.headers.get("content-length") ?? NaN);
    const stream = response.body ?? new Blob([]).stream();
    return { size: encoded || from > 0 || !Number.isFinite(length) ? undefined : length, stream };
  }
}

/**
 * The next chunk of `name`; undefined at its end. An error here is reported as a network error, unless it is one of
 * ours.
 */
async function readChunk(
  reader: ByteReader,
  name: string,
  signal: AbortSignal,
): Promise<Uint8Array | undefined> {
  try {
    return await reader.read();
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof Gpt2Error) throw error;
    throw new LoadError("network", `the connection broke while reading ${name}: ${reasonOf(error)}`);
  }
}

/** The chunks of a file, in order, each valid until the next is asked for. Leaving early cancels the file. */
export async function* chunksOf(
  file: OpenFile,
  name: string,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array, void> {
  const reader = byteReader(file.stream);
  try {
    for (;;) {
      const chunk = await readChunk(reader, name, signal);
      if (!chunk) return;
      yield chunk;
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}
