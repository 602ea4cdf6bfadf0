// steadyFetch with hosts that fail for a moment, break off, fall silent, change, or do not exist.
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { ChangedFileError, steadyFetch } from "../../web/src/loader/steady-fetch.js";
import { LoadError } from "../../web/src/shared/errors.js";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
});

const file = Uint8Array.from({ length: 100 }, (_, index) => index);
const stallMs = 1000;

/** The bytes of `file` from `from`, in chunks of 10; after `count` of them `end` happens. */
function bytesFrom(from: number, count = Infinity, end: "closes" | "breaks" | "stalls" = "closes") {
  let at = from;
  return new ReadableStream<Uint8Array<ArrayBuffer>>({
    pull(controller) {
      const next = Math.min(at + 10, from + count, file.length);
      if (next > at) controller.enqueue(file.slice(at, next));
      else if (end === "closes") controller.close();
      else if (end === "breaks") controller.error(new TypeError("reset"));
      else return new Promise<void>(() => {});
      at = next;
      return undefined;
    },
  });
}

type Answer = (from: number, init: RequestInit) => Response | Promise<Response>;

const etag = { etag: '"v1"' };
const part = (from: number, count?: number, end?: "breaks" | "stalls") =>
  new Response(bytesFrom(from, count, end), {
    status: 206,
    headers: { ...etag, "content-range": `bytes ${from}-99/100` },
  });
const whole = (count?: number, end?: "breaks" | "stalls") =>
  new Response(bytesFrom(0, count, end), { headers: etag });
const status = (code: number, headers: HeadersInit = {}) => new Response(null, { status: code, headers });

/** Asks a host that gives one answer after the other, the last one again and again. */
function host(...answers: Answer[]) {
  const asked: (string | null)[] = [];
  const retries: (string | null)[] = [];
  const ask = async (_: string, init: RequestInit) => {
    const range = new Headers(init.headers).get("range");
    asked.push(range);
    const answer = answers[Math.min(asked.length, answers.length) - 1];
    if (!answer) throw new Error("no answer");
    return answer(Number(/\d+/.exec(range ?? "0")), init);
  };
  const fetchSteadily = steadyFetch(ask as typeof fetch, {
    stallMs,
    onRetry: (reason) => retries.push(reason),
  });
  const read = async (signal: AbortSignal | null = null) => {
    const response = await fetchSteadily("http://host/f", { signal });
    return new Uint8Array(await response.arrayBuffer());
  };
  return { asked, retries, fetchSteadily, read };
}

/** What `promise` settles to, however long it takes. */
async function inTime<T>(promise: Promise<T>): Promise<T> {
  const settled = vi.fn();
  promise.then(settled, settled);
  for (let steps = 0; settled.mock.calls.length === 0; steps += 1) {
    if (steps === 2000) throw new Error("it never settles");
    await vi.advanceTimersByTimeAsync(100);
  }
  return promise;
}

describe("steadyFetch", () => {
  it("steadyFetch makes one request if nothing fails", async () => {
    const { asked, retries, read } = host(() => whole());
    expect(await inTime(read())).toEqual(file);
    expect(asked).toEqual([null]);
    expect(retries).toEqual([]);
  });

  it("steadyFetch resumes after a broken connection, and reports it", async () => {
    const { asked, retries, read } = host(
      () => whole(30, "breaks"),
      (from) => part(from, 25, "breaks"),
      (from) => part(from),
    );
    expect(await inTime(read())).toEqual(file);
    expect(asked).toEqual([null, "bytes=30-", "bytes=55-"]);
    expect(retries).toEqual(["reset", null, "reset", null]);
  });

  it("steadyFetch skips the received bytes if a host supports no ranges", async () => {
    const { asked, read } = host(
      () => whole(37, "breaks"),
      () => whole(),
    );
    expect(await inTime(read())).toEqual(file);
    expect(asked).toEqual([null, "bytes=37-"]);
  });

  it("steadyFetch treats silence as a broken connection, before and after the first byte", async () => {
    const { asked, retries, read } = host(
      () => new Promise<Response>(() => {}),
      () => whole(20, "stalls"),
      (from) => part(from),
    );
    expect(await inTime(read())).toEqual(file);
    expect(asked).toEqual([null, null, "bytes=20-"]);
    expect(retries).toContain("no data for 1 s");
  });

  it("steadyFetch ends the connection that was silent", async () => {
    const signals: (AbortSignal | null | undefined)[] = [];
    const { read } = host(
      (_, { signal }) => (signals.push(signal), new Promise<Response>(() => {})),
      () => whole(),
    );
    await inTime(read());
    expect(signals[0]?.aborted).toBe(true);
  });

  it.each([
    ["with ranges", (from: number) => part(from, 20, "breaks"), (from: number) => part(from)],
    ["without", () => whole(60, "breaks"), () => whole()],
  ])("steadyFetch returns the rest of a file of a host %s, and resumes in it", async (_, ...answers) => {
    const { asked, fetchSteadily } = host(...answers);
    const reading = fetchSteadily("http://host/f", { headers: { range: "bytes=40-" } });
    const response = await inTime(reading);
    expect(response.status).toBe(206);
    expect(new Uint8Array(await inTime(response.arrayBuffer()))).toEqual(file.subarray(40));
    expect(asked).toEqual(["bytes=40-", "bytes=60-"]);
  });

  it("steadyFetch refuses a different range than requested if there is nothing else", async () => {
    const { asked, fetchSteadily } = host(() => part(30));
    const reading = fetchSteadily("http://host/f", { headers: { range: "bytes=40-" } });
    await expect(inTime(reading)).rejects.toThrow("the host does not send the rest of http://host/f: 206");
    expect(asked).toEqual(["bytes=40-", null]);
  });

  it.each([408, 425, 429, 500, 502, 503, 504])(
    "steadyFetch repeats the request if a host answers %i",
    async (code) => {
      const { asked, retries, read } = host(
        () => status(code),
        () => whole(),
      );
      expect(await inTime(read())).toEqual(file);
      expect(asked).toHaveLength(2);
      expect(retries).toEqual([`the host answered ${code}`, null]);
    },
  );

  it.each([401, 403, 404, 410, 501])("steadyFetch accepts %i as an answer", async (code) => {
    const { asked, fetchSteadily } = host(() => status(code));
    expect((await inTime(fetchSteadily("http://host/f"))).status).toBe(code);
    expect(asked).toHaveLength(1);
  });

  it("steadyFetch returns the host's last answer after three more attempts", async () => {
    const { asked, fetchSteadily } = host(() => status(503));
    expect((await inTime(fetchSteadily("http://host/f"))).status).toBe(503);
    expect(asked).toHaveLength(4);
  });

  it("steadyFetch gives up after four broken connections without a byte in between", async () => {
    const { asked, read } = host(
      () => whole(30, "breaks"),
      () => Promise.reject(new TypeError("Failed to fetch")),
    );
    await expect(inTime(read())).rejects.toThrow("Failed to fetch");
    expect(asked).toHaveLength(4);
    // Each of these attempts brings some bytes.
    const slow = host((from) => (from === 0 ? whole(10, "breaks") : part(from, 10, "breaks")));
    expect(await inTime(slow.read())).toEqual(file); // the last one breaks behind the last byte
    expect(slow.asked).toHaveLength(10);
  });

  it("steadyFetch gives up if the rest never has new bytes", async () => {
    const { asked, read } = host(() => whole(30, "breaks"));
    await expect(inTime(read())).rejects.toThrow("reset");
    expect(asked).toHaveLength(4);
  });

  it("steadyFetch waits as long as the host says, in seconds or until a date", async () => {
    vi.spyOn(Math, "random").mockReturnValue(0.5); // pauses of 300 and 900 ms are added
    const start = Date.now();
    const times: number[] = [];
    const { read } = host(
      () => (times.push(Date.now() - start), status(503, { "retry-after": "7" })),
      () => {
        times.push(Date.now() - start);
        return status(429, { "retry-after": new Date(Date.now() + 12_000).toUTCString() });
      },
      () => (times.push(Date.now() - start), whole()),
    );
    await inTime(read());
    const [, second = 0, third = 0] = times;
    expect(second).toBeGreaterThanOrEqual(7300);
    expect(second).toBeLessThan(7400);
    expect(third - second).toBeGreaterThanOrEqual(11_900); // a date has whole seconds
    expect(third - second).toBeLessThan(13_000);
  });

  it("steadyFetch does not wait if the host asks for more than half a minute", async () => {
    const { asked, fetchSteadily } = host(() => status(503, { "retry-after": "31" }));
    expect((await inTime(fetchSteadily("http://host/f"))).status).toBe(503);
    expect(asked).toHaveLength(1);
  });

  describe("offline", () => {
    const navigator = { onLine: false };
    const events = new EventTarget();
    beforeEach(() => {
      navigator.onLine = false;
      vi.stubGlobal("navigator", navigator);
      vi.stubGlobal("addEventListener", events.addEventListener.bind(events));
      vi.stubGlobal("removeEventListener", events.removeEventListener.bind(events));
    });
    const fails = () => Promise.reject(new TypeError("Failed to fetch"));

    it("an offline download waits for the network, reports it, and continues when it is back", async () => {
      const { asked, retries, read } = host(
        () => whole(30, "breaks"),
        fails,
        (from) => part(from),
      );
      const reading = read();
      await vi.advanceTimersByTimeAsync(1000);
      expect(asked).toEqual([null]);
      expect(retries).toEqual(["waiting for the network"]);
      navigator.onLine = true;
      events.dispatchEvent(new Event("online"));
      await vi.advanceTimersByTimeAsync(0);
      expect(asked).toEqual([null, "bytes=30-"]);
      expect(await inTime(reading)).toEqual(file);
      expect(retries.at(-1)).toBe(null);
    });

    it("an offline download retries from time to time without an end, as the browser's events may be missing or wrong", async () => {
      let isThere = false;
      const { read } = host(() => (isThere ? whole() : fails()));
      const reading = read();
      await vi.advanceTimersByTimeAsync(3_600_000);
      isThere = true;
      await vi.advanceTimersByTimeAsync(5000);
      expect(await inTime(reading)).toEqual(file);
    });

    it("an offline download is aborted at once", async () => {
      const controller = new AbortController();
      const { asked, read } = host(fails);
      const reading = read(controller.signal);
      reading.catch(() => {});
      await vi.advanceTimersByTimeAsync(100);
      controller.abort(new Error("enough"));
      await expect(reading).rejects.toThrow("enough");
      await vi.advanceTimersByTimeAsync(60_000);
      expect(asked).toHaveLength(1);
    });
  });

  it("steadyFetch completes the file if the connection breaks after its last byte", async () => {
    const sized = () => {
      const headers = { ...etag, "content-length": "100" };
      return new Response(bytesFrom(0, 100, "breaks"), { headers });
    };
    const { asked, read } = host(sized);
    expect(await inTime(read())).toEqual(file);
    expect(asked).toHaveLength(1);
  });

  it("steadyFetch completes the file if the host stated no length and now says that nothing is left", async () => {
    const { asked, read } = host(
      () => whole(100, "breaks"),
      () => status(416, { "content-range": "bytes */100" }),
    );
    expect(await inTime(read())).toEqual(file);
    expect(asked).toEqual([null, "bytes=100-"]);
  });

  it("steadyFetch resumes if a connection ends too early without an error", async () => {
    const { asked, read } = host(
      () => new Response(bytesFrom(0, 30), { headers: { ...etag, "content-length": "100" } }),
      (from) => part(from),
    );
    await inTime(read());
    expect(asked).toEqual([null, "bytes=30-"]);
  });

  it("steadyFetch does not compare the received bytes with the length of a compressed answer", async () => {
    const headers = { ...etag, "content-length": "120", "content-encoding": "gzip" };
    const { asked, read } = host(() => new Response(bytesFrom(0), { headers }));
    expect(await inTime(read())).toEqual(file);
    expect(asked).toHaveLength(1);
  });

  it.each([
    ["another size", { ...etag, "content-range": "bytes 30-98/99" }],
    ["another tag", { etag: '"v2"', "content-range": "bytes 30-99/100" }],
    [
      "another date",
      { "last-modified": "Sun, 22 Nov 2026 00:00:00 GMT", "content-range": "bytes 30-99/100" },
    ],
  ])("steadyFetch refuses the rest of a file that has changed meanwhile: %s", async (_, headers) => {
    const length = { "content-length": "100" };
    const dated = { "last-modified": "Sat, 21 Nov 2026 00:00:00 GMT" };
    const { read } = host(
      () =>
        new Response(bytesFrom(0, 30, "breaks"), {
          headers: { ...("etag" in headers ? etag : dated), ...length },
        }),
      (from) => new Response(bytesFrom(from), { status: 206, headers }),
    );
    const failure = await inTime(read()).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(LoadError);
    expect(failure).toBeInstanceOf(ChangedFileError);
    expect(failure).toMatchObject({
      code: "network",
      message: "http://host/f changed while it was read: load it again",
    });
  });

  it.each(['W/"v1"', '"v1-gzip"', '"v1;br"'])(
    "steadyFetch accepts the tag %s of a compressed answer as the same file's",
    async (tag) => {
      const { read } = host(
        () => new Response(bytesFrom(0, 30, "breaks"), { headers: { etag: tag } }),
        (from) => part(from),
      );
      expect(await inTime(read())).toEqual(file);
    },
  );

  const ranged = (headers: Record<string, string>) => () =>
    new Response(bytesFrom(0), { status: 206, headers: { ...etag, ...headers } });
  it.each([
    ["another part", ranged({ "content-range": "bytes 0-99/100" })],
    ["a compressed part", ranged({ "content-range": "bytes 30-99/100", "content-encoding": "gzip" })],
    ["416", () => status(416)],
  ])("steadyFetch requests the whole file if the host sends %s instead of the rest", async (_, answer) => {
    const { asked, read } = host(
      () => whole(30, "breaks"),
      answer,
      () => whole(),
    );
    expect(await inTime(read())).toEqual(file);
    expect(asked).toEqual([null, "bytes=30-", null]);
    const hopeless = host(() => whole(30, "breaks"), answer);
    await expect(inTime(hopeless.read())).rejects.toThrow(
      "the host does not send the rest of http://host/f: ",
    );
    expect(hopeless.asked).toHaveLength(3);
  });

  it("steadyFetch measures a retry date by the host's own clock", async () => {
    const hostsNow = Date.now() - 86_400_000;
    const at = (ms: number) => new Date(hostsNow + ms).toUTCString();
    const { asked, read } = host(
      () => status(503, { date: at(0), "retry-after": at(5000) }),
      () => whole(),
    );
    const reading = read();
    await vi.advanceTimersByTimeAsync(3000);
    expect(asked).toHaveLength(1);
    expect(await inTime(reading)).toEqual(file);
  });

  it.each([
    ["asks", [() => new Promise<Response>(() => {})]],
    ["reads", [() => whole(30, "stalls")]],
    ["pauses", [() => status(503, { "retry-after": "30" })]],
  ] as [string, Answer[]][])("steadyFetch is aborted at once while it %s", async (_, answers) => {
    const controller = new AbortController();
    const { asked, read } = host(...answers);
    const settled = vi.fn();
    read(controller.signal).catch(settled);
    await vi.advanceTimersByTimeAsync(500);
    expect(settled).not.toHaveBeenCalled();
    controller.abort(new Error("enough"));
    await vi.advanceTimersByTimeAsync(0);
    expect(settled).toHaveBeenCalledWith(new Error("enough"));
    await vi.advanceTimersByTimeAsync(60_000);
    expect(asked).toHaveLength(1);
  });

  it("steadyFetch makes no request if it is already aborted", async () => {
    const { read } = host((_, { signal }) => (signal?.throwIfAborted(), whole()));
    await expect(inTime(read(AbortSignal.abort(new Error("before"))))).rejects.toThrow("before");
  });

  it("steadyFetch keeps its request's options, and adds a range", async () => {
    const asked: RequestInit[] = [];
    const answers = [whole(30, "breaks"), part(30)];
    const ask = async (_: unknown, init: RequestInit = {}) => (
      asked.push(init),
      answers.shift() ?? status(500)
    );
    const fetchSteadily = steadyFetch(ask, { stallMs, onRetry: () => {} });
    const init: RequestInit = { headers: { "x-key": "1" }, credentials: "include", cache: "reload" };
    await inTime(fetchSteadily("http://host/f", init).then((response) => response.arrayBuffer()));
    for (const each of asked) expect(each).toMatchObject({ credentials: "include", cache: "reload" });
    expect(asked.map(({ headers }) => [...new Headers(headers)])).toEqual([
      [["x-key", "1"]],
      [
        ["range", "bytes=30-"],
        ["x-key", "1"],
      ],
    ]);
  });

  it("steadyFetch stops reading when its reader does", async () => {
    let signal: AbortSignal | null | undefined;
    const { fetchSteadily } = host((_, init) => ((signal = init.signal), whole(30, "stalls")));
    const response = await inTime(fetchSteadily("http://host/f"));
    await response.body?.cancel();
    expect(signal?.aborted).toBe(true);
  });

  it("steadyFetch passes on status, headers and an empty body", async () => {
    const { fetchSteadily } = host(() => new Response("", { headers: { "content-type": "text/plain" } }));
    const response = await inTime(fetchSteadily("http://host/f"));
    expect([response.ok, response.headers.get("content-type"), await response.text()]).toEqual([
      true,
      "text/plain",
      "",
    ]);
  });
});
