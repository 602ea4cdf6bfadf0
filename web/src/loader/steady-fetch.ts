// A `fetch` that does not give up at the first fault: a connection that breaks or falls silent is made again and goes on
// where it was, and a host that is busy is asked again.
import { Gpt2Error, LoadError } from "../shared/errors.js";
import { follow, unlessAborted } from "../shared/unless-aborted.js";
import { byteReader, type ByteReader } from "./byte-reader.js";

export interface Patience {
  /** Silence after which a connection counts as broken, in milliseconds. */
  stallMs: number;
  /** Called with what went wrong before another attempt, and with null once bytes come again. */
  onRetry: (reason: string | null) => void;
}

/** What memory a file comes in: "passing" has each chunk valid until the next is asked for, as OpenFile does. */
export type Chunks = "kept" | "passing";

/** Attempts after the first, with no new byte in between. */
const mostRetries = 3;
/** Before the first retry; three times as long before each further one, give or take a half. */
const firstPauseMs = 300;
/** A host that wants more time than this is down. */
const longestPauseMs = 30_000;

/** Temporary failures. */
const passing = new Set([408, 425, 429, 500, 502, 503, 504]);

/** In milliseconds; undefined where the host asks for nothing. */
function retryAfter(response: Response): number | undefined {
  const value = response.headers.get("retry-after");
  if (value === null) return undefined;
  const ms = /^\d+$/.test(value) ? Number(value) * 1000 : Date.parse(value) - Date.now();
  return Number.isFinite(ms) ? Math.max(ms, 0) : undefined;
}

/** What tells two versions of a file apart; compression makes a tag weak, of the same version. */
function versionOf({ headers }: Response): string | null {
  return headers.get("etag")?.replace(/^W\//, "") ?? headers.get("last-modified");
}

/** One connection to the host. It ends when it is silent for too long, or when nobody wants it any longer. */
export class Attempt {
  readonly signal: AbortSignal;
  private readonly link: ReturnType<typeof follow>;
  private readonly stallMs: number;

  constructor(wanted: AbortSignal, stallMs: number) {
    this.link = follow(wanted);
    this.signal = this.link.controller.signal;
    this.stallMs = stallMs;
  }

  /** `promise`, which brings the next bytes. */
  async watch<T>(promise: Promise<T>): Promise<T> {
    const stalled = () => this.link.controller.abort(new Error(`no byte for ${this.stallMs / 1000} s`));
    const timer = setTimeout(stalled, this.stallMs);
    try {
      return await unlessAborted(promise, this.signal);
    } finally {
      clearTimeout(timer);
    }
  }

  end(): void {
    this.link.letGo();
    this.link.controller.abort();
  }
}

/** One file on its way. */
async function download(
  ask: typeof fetch,
  url: string,
  init: RequestInit,
  { stallMs, onRetry }: Patience,
  chunks: Chunks,
): Promise<Response> {
  const signal = init.signal ?? new AbortController().signal;
  const start = Number(/^bytes=(\d+)-$/.exec(new Headers(init.headers).get("range") ?? "")?.[1] ?? 0);
  /** Of the next byte that is handed on; bytes that come before it have been already. */
  let place = start;
  let repeated = 0;
  let failures = 0;
  let version: string | null = null;
  let attempt: Attempt | undefined;
  let reader: ByteReader | undefined;

  const networkError = (message: string) => new LoadError("network", message);

  /** Returns when it is time for another attempt. Throws `error` where there is none. */
  const pauseAfter = async (error: unknown, pauseMs?: number): Promise<void> => {
    signal.throwIfAborted();
    if (error instanceof Gpt2Error || failures === mostRetries) throw error;
    const usualMs = firstPauseMs * 3 ** failures * (0.5 + Math.random());
    failures += 1;
    onRetry(error instanceof Error ? error.message : String(error));
    await unlessAborted(online(), signal);
    // Who is told the same time by a busy host is not to come back at the same moment.
    const waitMs = pauseMs === undefined ? usualMs : pauseMs + firstPauseMs * Math.random();
    await unlessAborted(new Promise((resolve) => setTimeout(resolve, waitMs)), signal);
  };

  /** The host's first answer that is not a temporary failure. */
  const connect = async (): Promise<Response> => {
    for (;;) {
      attempt?.end();
      attempt = new Attempt(signal, stallMs);
      const headers = new Headers(init.headers);
      if (place > 0) headers.set("Range", `bytes=${place}-`);
      let response: Response;
      try {
        response = await attempt.watch(ask(url, { ...init, headers, signal: attempt.signal }));
      } catch (error) {
        await pauseAfter(error);
        continue;
      }
      const pauseMs = retryAfter(response);
      const isUp = (pauseMs ?? 0) <= longestPauseMs && failures < mostRetries;
      if (!passing.has(response.status) || !isUp) return response;
      await pauseAfter(new Error(`the host answered ${response.status}`), pauseMs);
    }
  };

  /** Goes on with what was answered: the rest, or all of it. */
  const readOn = (response: Response): void => {
    const { ok, status, body } = response;
    const begins = /^bytes (\d+)-/.exec(response.headers.get("content-range") ?? "")?.[1];
    if (!ok || (status === 206 && Number(begins ?? place) !== place)) {
      throw networkError(`the host does not give the rest of ${url}: ${status}`);
    }
    const found = versionOf(response);
    if (found !== null && version !== null && found !== version) {
      throw networkError(`${url} changed while it was read`);
    }
    version ??= found;
    reader = body ? byteReader(body) : undefined;
    repeated = status === 206 ? 0 : place;
  };

  /** The next chunk, over a new connection if need be; undefined at the end. */
  const read = async (): Promise<Uint8Array | undefined> => {
    for (;;) {
      try {
        return attempt && reader ? await attempt.watch(reader.read()) : undefined;
      } catch (error) {
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
      if (failures > 0) onRetry(null);
      failures = 0;
      return controller.enqueue(chunks === "passing" ? fresh : fresh.slice());
    }
  };

  const response = await connect();
  if (!response.ok || !response.body) return response;
  readOn(response);
  const body = new ReadableStream<Uint8Array>(
    { pull, cancel: () => attempt?.end() },
    { highWaterMark: 0 }, // read on demand only: an idle reader must not count as a stall
  );
  const { status, statusText } = response;
  return new Response(body, { status: start > 0 ? 206 : status, statusText, headers: response.headers });
}

/** Resolves at once where the browser does not say that there is no network at all. */
function online(): Promise<void> {
  const { navigator } = globalThis as { navigator?: { onLine?: boolean } };
  if (navigator?.onLine !== false) return Promise.resolve();
  return new Promise((resolve) => addEventListener("online", () => resolve(), { once: true }));
}

/**
 * `ask`, which is fetch or answers as it does, with patience. A file that changes meanwhile is an error. Where the host
 * gives no ranges, or `ask` asks for none, a file is read once more from its beginning. The rest of a file, which the
 * header `Range: bytes=N-` asks for, is given by every host.
 */
export function steadyFetch(ask: typeof fetch, patience: Patience, chunks: Chunks = "kept"): typeof fetch {
  return (input, init = {}) =>
    download(ask, input instanceof Request ? input.url : String(input), init, patience, chunks);
}
