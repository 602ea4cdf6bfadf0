// A `fetch` that survives faults: if a connection breaks or stalls, it resumes over a new one, and a busy host is asked
// again.
import { Gpt2Error, LoadError, reasonOf } from "../../shared/errors.js";
import { followingController, unlessAborted } from "../../shared/unless-aborted.js";
import { isOffline } from "../../shared/failures.js";
import { byteReader, type ByteReader } from "./byte-streams.js";
import { adviceOn, retryAfter, untilNextAttempt } from "./retry-after.js";

export interface RetryOptions {
  /** Silence after which a connection counts as broken, in milliseconds. */
  stallMs: number;
  /** Called with the reason before another attempt, and with null when bytes arrive again. */
  onRetry: (reason: string | null) => void;
}

/** How long a chunk is valid: "passing" until the next is requested, as in OpenFile; "kept" forever. */
export type Chunks = "kept" | "passing";

/** Retries without a new byte in between. */
const mostRetries = 3;
/** Before the first retry; three times as long before each further one, plus or minus a half. */
const firstPauseMs = 300;
/** If a host asks for a longer pause than this, the request fails. */
const longestPauseMs = 30_000;

/** Temporary failures. */
const passing = new Set([408, 425, 429, 500, 502, 503, 504]);

const isEncoded = ({ headers }: Response): boolean => headers.get("content-encoding") !== null;

/** What an answer states about the version of its file. */
interface Version {
  tag: string | null;
  modified: string | null;
  /** Decoded size in bytes. */
  size: number | undefined;
}

function versionOf(response: Response): Version {
  const { headers, status, type } = response;
  // Compression makes a tag weak, or adds a suffix to it.
  const tag = headers
    .get("etag")
    ?.replace(/^W\//, "")
    .replace(/[-;]+(gzip|br|zstd|deflate)(?="$)/, "");
  const whole = /\/(\d+)$/.exec(headers.get("content-range") ?? "")?.[1];
  // A compressed answer has another length than the file, and other origins hide whether it is compressed.
  const length = isEncoded(response) || type === "cors" ? null : headers.get("content-length");
  const size = status === 206 ? whole : (length ?? undefined);
  return {
    tag: tag ?? null,
    modified: headers.get("last-modified"),
    size: size === undefined ? undefined : Number(size),
  };
}

/** Whether two answers certainly come from different versions of a file. */
function differ(first: Version, second: Version): boolean {
  if (first.size !== undefined && second.size !== undefined && first.size !== second.size) return true;
  if (first.tag !== null && second.tag !== null) return first.tag !== second.tag;
  return first.modified !== null && second.modified !== null && first.modified !== second.modified;
}

/** The rest of the file comes from another version. A caller that has not used the first bytes may fetch the file again. */
export class ChangedFileError extends LoadError {
  /** Several chunks of the build contain this class, so the class itself cannot be compared. */
  static override [Symbol.hasInstance](error: unknown): boolean {
    return "isOfChangedFile" in Object(error);
  }

  readonly isOfChangedFile = true;

  constructor(url: string) {
    super("network", `${url} changed while it was read: load it again`);
  }
}

/** One connection to the host. It is aborted after `stallMs` without bytes, or by the caller's signal. */
export class Attempt {
  readonly signal: AbortSignal;
  private readonly link: ReturnType<typeof followingController>;
  private readonly stallMs: number;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private watched = 0;

  constructor(wanted: AbortSignal, stallMs: number) {
    this.link = followingController(wanted);
    this.signal = this.link.controller.signal;
    this.stallMs = stallMs;
  }

  /** Waits for `promise`, which delivers the next bytes; rejects if that stalls. */
  async watch<T>(promise: Promise<T>): Promise<T> {
    this.hear();
    this.watched += 1;
    try {
      return await unlessAborted(promise, this.signal);
    } finally {
      this.watched -= 1;
      if (this.watched === 0) clearTimeout(this.timer);
    }
  }

  /** Restarts the time limit: bytes arrived outside of `watch`. */
  hear(): void {
    clearTimeout(this.timer);
    const stalled = () => this.link.controller.abort(new Error(`no data for ${this.stallMs / 1000} s`));
    this.timer = setTimeout(stalled, this.stallMs);
  }

  end(): void {
    clearTimeout(this.timer);
    this.link.letGo();
    this.link.controller.abort();
  }
}

/** One file's download. */
async function download(
  ask: typeof fetch,
  url: string,
  init: RequestInit,
  { stallMs, onRetry }: RetryOptions,
  chunks: Chunks,
): Promise<Response> {
  const signal = init.signal ?? new AbortController().signal;
  const start = Number(/^bytes=(\d+)-$/.exec(new Headers(init.headers).get("range") ?? "")?.[1] ?? 0);
  /** File offset of the next byte to pass on. */
  let place = start;
  let repeated = 0;
  let failures = 0;
  let hasToldRetry = false;
  /** The host does not support ranges. */
  let isWholeOnly = false;
  let version: Version | undefined;
  let attempt: Attempt | undefined;
  let reader: ByteReader | undefined;

  const tellRetry = (reason: string | null) => {
    if (reason !== null || hasToldRetry) onRetry(reason);
    hasToldRetry = reason !== null;
  };

  /** Resolves when it is time for another attempt. Throws `error` if no attempt is left. */
  const pauseAfter = async (error: unknown, pauseMs = 0): Promise<void> => {
    signal.throwIfAborted();
    if (error instanceof Gpt2Error) throw error;
    if (isOffline()) {
      tellRetry("waiting for the network");
      return untilNextAttempt(signal);
    }
    if (failures === mostRetries) throw error;
    const usualMs = firstPauseMs * 3 ** failures * (0.5 + Math.random());
    failures += 1;
    tellRetry(reasonOf(error));
    // A random pause spreads out requests that a busy host has refused together, further after each refusal.
    await unlessAborted(new Promise((resolve) => setTimeout(resolve, pauseMs + usualMs)), signal);
  };

  const askOnce = async (): Promise<Response> => {
    attempt?.end();
    attempt = new Attempt(signal, stallMs);
    const headers = new Headers(init.headers);
    headers.delete("Range");
    if (place > 0 && !isWholeOnly) headers.set("Range", `bytes=${place}-`);
    return attempt.watch(ask(url, { ...init, headers, signal: attempt.signal }));
  };

  /** Whether `response` is not the requested range. The whole file may still be available. */
  const isWrongPart = (response: Response): boolean => {
    const { status, headers } = response;
    if (status === 416) return !isEnd(response);
    const begins = /^bytes (\d+)-/.exec(headers.get("content-range") ?? "")?.[1]; // other origins may hide it
    return status === 206 && (Number(begins ?? place) !== place || isEncoded(response));
  };
  /** Whether the host reports the end of the file. */
  const isEnd = ({ status, headers }: Response): boolean =>
    status === 416 && headers.get("content-range") === `bytes */${place}`;

  /** The host's first answer that is not a temporary failure. */
  const connect = async (): Promise<Response> => {
    for (;;) {
      let response: Response;
      try {
        response = await askOnce();
      } catch (error) {
        await pauseAfter(error);
        continue;
      }
      const pauseMs = retryAfter(response);
      const isUp = (pauseMs ?? 0) <= longestPauseMs && failures < mostRetries;
      if (!isWholeOnly && isWrongPart(response)) {
        isWholeOnly = true;
        await pauseAfter(new Error(`the host does not send the rest of ${url}: ${response.status}`));
      } else if (passing.has(response.status) && isUp) {
        await pauseAfter(new Error(`the host answered ${response.status}`), pauseMs);
      } else return response;
    }
  };

  /** Continues reading from `response`, which has the rest of the file or all of it. */
  const readOn = (response: Response): void => {
    reader = undefined;
    if (isEnd(response)) return;
    const { ok, status, body } = response;
    if (!ok || isWrongPart(response)) {
      throw new LoadError(
        "network",
        `the host does not send the rest of ${url}: ${status}${adviceOn(response)}`,
      );
    }
    const found = versionOf(response);
    if (version && differ(version, found)) throw new ChangedFileError(url);
    version = {
      tag: version?.tag ?? found.tag,
      modified: version?.modified ?? found.modified,
      size: version?.size ?? found.size,
    };
    reader = body ? byteReader(body) : undefined;
    repeated = status === 206 ? 0 : place;
  };

  /** The next chunk, over a new connection if necessary; undefined at the end. */
  const read = async (): Promise<Uint8Array | undefined> => {
    for (;;) {
      const size = version?.size;
      try {
        const chunk = attempt && reader ? await attempt.watch(reader.read()) : undefined;
        if (chunk || !reader || size === undefined || place >= size) return chunk;
        throw new Error(`the connection ended after ${place} of ${size} bytes`);
      } catch (error) {
        if (place === size) return undefined; // the connection broke after the last byte
        await pauseAfter(error);
        readOn(await connect());
      }
    }
  };

  const pull = async (controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> => {
    for (;;) {
      const chunk = await read();
      if (!chunk) {
        attempt?.end();
        return controller.close();
      }
      const fresh = chunk.subarray(Math.min(repeated, chunk.length));
      repeated -= chunk.length - fresh.length;
      if (fresh.length === 0) continue;
      place += fresh.length;
      tellRetry(null);
      failures = 0;
      return controller.enqueue(chunks === "passing" ? fresh : fresh.slice());
    }
  };

  const response = await connect();
  if (!isEnd(response) && (!response.ok || !response.body)) return response;
  readOn(response);
  const body = new ReadableStream<Uint8Array>(
    { pull, cancel: () => attempt?.end() },
    { highWaterMark: 0 }, // read on demand only: an idle reader must not count as a stall
  );
  const { status, statusText } = response;
  return new Response(body, { status: start > 0 ? 206 : status, statusText, headers: response.headers });
}

/**
 * `ask`, a fetch, with retries. If the file changes during the download, reading fails with a ChangedFileError. If the
 * host does not support ranges, the file is read again from its start, and the bytes before the range are skipped. So
 * the header `Range: bytes=N-` works with every host.
 */
export function steadyFetch(
  ask: typeof fetch,
  patience: RetryOptions,
  chunks: Chunks = "kept",
): typeof fetch {
  return (input, init = {}) =>
    download(ask, input instanceof Request ? input.url : String(input), init, patience, chunks);
}
