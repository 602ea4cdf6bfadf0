// A `fetch` that does not give up at the first fault: a connection that breaks or falls silent is made again and goes on
// where it was, and a host that is busy is asked again.
import { isLoadError, LoadError } from "../shared/errors.js";
import { unlessAborted } from "../shared/unless-aborted.js";

export interface Patience {
  /** Silence after which a connection counts as broken, in milliseconds. */
  stallMs: number;
  /** Called with what went wrong before another attempt, and with null once bytes come again. */
  onRetry: (reason: string | null) => void;
}

export const usualStallMs = 20_000;

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
  private readonly controller = new AbortController();
  private readonly onAbort = () => this.controller.abort(this.wanted.reason);

  private readonly wanted: AbortSignal;
  private readonly stallMs: number;

  constructor(wanted: AbortSignal, stallMs: number) {
    this.wanted = wanted;
    this.stallMs = stallMs;

    if (wanted.aborted) this.onAbort();
    wanted.addEventListener("abort", this.onAbort);
  }

  get signal(): AbortSignal {
    return this.controller.signal;
  }

  /** `promise`, which brings the next bytes. */
  async watch<T>(promise: Promise<T>): Promise<T> {
    const stalled = () => this.controller.abort(new Error(`no byte for ${this.stallMs / 1000} s`));
    const timer = setTimeout(stalled, this.stallMs);
    try {
      return await unlessAborted(promise, this.signal);
    } finally {
      clearTimeout(timer);
    }
  }

  end(): void {
    this.wanted.removeEventListener("abort", this.onAbort);
    this.controller.abort();
  }
}

/** One file on its way. */
class Download {
  private readonly signal: AbortSignal;
  private attempt: Attempt | undefined;
  private reader: ReadableStreamDefaultReader<Uint8Array<ArrayBuffer>> | undefined;
  private version: string | null = null;
  /** Bytes that were handed on, and those to come that have been already. */
  private received = 0;
  private repeated = 0;
  private failures = 0;

  private readonly ask: typeof fetch;
  private readonly url: string;
  private readonly init: RequestInit;
  private readonly patience: Patience;

  constructor(ask: typeof fetch, url: string, init: RequestInit, patience: Patience) {
    this.ask = ask;
    this.url = url;
    this.init = init;
    this.patience = patience;

    this.signal = init.signal ?? new AbortController().signal;
  }

  async open(): Promise<Response> {
    const response = await this.connect({});
    const { status, statusText, headers } = response;
    if (!response.ok || !response.body) return response;
    this.version = versionOf(response);
    this.reader = response.body.getReader();
    const body = new ReadableStream<Uint8Array>(
      { pull: (controller) => this.pull(controller), cancel: () => this.attempt?.end() },
      { highWaterMark: 0 }, // read on demand only: an idle reader must not count as a stall
    );
    return new Response(body, { status, statusText, headers });
  }

  private async pull(controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> {
    for (;;) {
      const chunk = await this.read();
      if (!chunk) {
        this.attempt?.end();
        return controller.close();
      }
      const fresh = chunk.subarray(Math.min(this.repeated, chunk.length));
      this.repeated -= chunk.length - fresh.length;
      if (fresh.length === 0) continue;
      this.received += fresh.length;
      if (this.failures > 0) this.patience.onRetry(null);
      this.failures = 0;
      return controller.enqueue(fresh);
    }
  }

  /** The next chunk, over a new connection if need be; undefined at the end. */
  private async read(): Promise<Uint8Array | undefined> {
    for (;;) {
      try {
        const { attempt, reader } = this;
        return attempt && reader ? (await attempt.watch(reader.read())).value : undefined;
      } catch (error) {
        await this.pauseAfter(error);
        await this.resume();
      }
    }
  }

  private async resume(): Promise<void> {
    const from = this.received;
    const response = await this.connect(from > 0 ? { Range: `bytes=${from}-` } : {});
    const version = versionOf(response);
    const isPart = response.status === 206;
    const start = /^bytes (\d+)-/.exec(response.headers.get("content-range") ?? "")?.[1];
    if (!response.ok || (isPart && Number(start ?? from) !== from)) {
      throw new LoadError("network", `the host does not give the rest of ${this.url}: ${response.status}`);
    }
    if (version !== null && this.version !== null && version !== this.version) {
      throw new LoadError("network", `${this.url} changed while it was read`);
    }
    this.reader = response.body?.getReader();
    this.repeated = isPart ? 0 : from;
  }

  /** The host's first answer that is not a temporary failure. */
  private async connect(range: Record<string, string>): Promise<Response> {
    for (;;) {
      this.attempt?.end();
      this.attempt = new Attempt(this.signal, this.patience.stallMs);
      let response: Response;
      try {
        const headers = new Headers(this.init.headers);
        for (const [name, value] of Object.entries(range)) headers.set(name, value);
        const asked = this.ask(this.url, { ...this.init, headers, signal: this.attempt.signal });
        response = await this.attempt.watch(asked);
      } catch (error) {
        await this.pauseAfter(error);
        continue;
      }
      const pauseMs = retryAfter(response);
      const isUp = (pauseMs ?? 0) <= longestPauseMs && this.failures < mostRetries;
      if (!passing.has(response.status) || !isUp) return response;
      await this.pauseAfter(new Error(`the host answered ${response.status}`), pauseMs);
    }
  }

  /** Returns when it is time for another attempt. Throws `error` where there is none. */
  private async pauseAfter(error: unknown, pauseMs?: number): Promise<void> {
    this.signal.throwIfAborted();
    if (isLoadError(error) || this.failures === mostRetries) throw error;
    const usualMs = firstPauseMs * 3 ** this.failures * (0.5 + Math.random());
    this.failures += 1;
    this.patience.onRetry(error instanceof Error ? error.message : String(error));
    await unlessAborted(online(), this.signal);
    await unlessAborted(new Promise((resolve) => setTimeout(resolve, pauseMs ?? usualMs)), this.signal);
  }
}

/** Resolves at once where the browser does not say that there is no network at all. */
function online(): Promise<void> {
  const { navigator } = globalThis as { navigator?: { onLine?: boolean } };
  if (navigator?.onLine !== false) return Promise.resolve();
  return new Promise((resolve) => addEventListener("online", () => resolve(), { once: true }));
}

/**
 * `ask`, which is fetch or answers as it does, with patience. A file that changes meanwhile is an error. Where the host
 * gives no ranges, or `ask` asks for none, a file is read once more from its beginning.
 */
export function steadyFetch(ask: typeof fetch, patience: Patience): typeof fetch {
  return (input, init = {}) =>
    new Download(ask, input instanceof Request ? input.url : String(input), init, patience).open();
}
