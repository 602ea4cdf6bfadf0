// steadyFetch with hosts that fail for a moment, break off, fall silent, change, or do not exist.
import { beforeEach, expect, it, vi } from "vitest";
import { ChangedFileError, steadyFetch } from "../../web/src/model/sources/steady-fetch.js";

beforeEach(() => void vi.useFakeTimers());

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
const breaksOff = () => whole(30, "breaks");
const status = (code: number, headers: HeadersInit = {}) => new Response(null, { status: code, headers });

/** A file of 100 bytes that states its version and its size by `headers`. */
const stating = (headers: HeadersInit, count?: number, end?: "breaks") => () =>
  new Response(bytesFrom(0, count, end), { headers });
const partStating =
  (headers: HeadersInit): Answer =>
  (from) =>
    new Response(bytesFrom(from), { status: 206, headers });
const silent = () => new Promise<Response>(() => {});
const fails = () => Promise.reject(new TypeError("Failed to fetch"));

/** A browser without a network, and the target of its events. */
function goOffline() {
  const navigator = { onLine: false };
  const events = new EventTarget();
  vi.stubGlobal("navigator", navigator);
  vi.stubGlobal("addEventListener", events.addEventListener.bind(events));
  vi.stubGlobal("removeEventListener", events.removeEventListener.bind(events));
  return { navigator, events };
}

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
  const read = async (init: RequestInit = {}) => {
    const response = await fetchSteadily("http://host/f", init);
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

const gzip = { "content-encoding": "gzip" };
/** Answers instead of the rest of the file, after which only the whole file helps. */
const wrongParts: [string, Answer][] = [
  ["another part", partStating({ ...etag, "content-range": "bytes 0-99/100" })],
  ["a compressed part", partStating({ ...etag, ...gzip, "content-range": "bytes 30-99/100" })],
  ["416", () => status(416)],
];
const tenBytes: Answer = (from) => (from === 0 ? whole(10, "breaks") : part(from, 10, "breaks"));
const sized = { ...etag, "content-length": "100" };
const zipped = { ...etag, "content-length": "120", ...gzip };

/** What a host does, its answers, the ranges that it is asked for, and the reported retries. */
type Overcome = [name: string, answers: Answer[], asked: (string | null)[], retries?: (string | null)[]];
const overcome: Overcome[] = [
  ["never fails", [() => whole()], [null], []],
  ["supports no ranges", [() => whole(37, "breaks"), () => whole()], [null, "bytes=37-"]],
  [
    "is silent before and after the first byte",
    [silent, () => whole(20, "stalls"), (from) => part(from)],
    [null, null, "bytes=20-"],
    ["no data for 1 s", null, "no data for 1 s", null],
  ],
  [
    "breaks every connection after ten bytes, the last one behind the last byte",
    [tenBytes],
    [null, ...Array.from({ length: 9 }, (_, i) => `bytes=${10 * (i + 1)}-`)],
  ],
  ["breaks the connection after the last of the stated bytes", [stating(sized, 100, "breaks")], [null]],
  [
    "stated no length, and now says that nothing is left",
    [() => whole(100, "breaks"), () => status(416, { "content-range": "bytes */100" })],
    [null, "bytes=100-"],
  ],
  ["ends too early without an error", [stating(sized, 30), (from) => part(from)], [null, "bytes=30-"]],
  ["states the length of its compressed answer", [stating(zipped)], [null]],
  ...[408, 425, 429, 500, 502, 503, 504].map((code): Overcome => [
    `answers ${code}`,
    [() => status(code), () => whole()],
    [null, null],
    [`the host answered ${code}`, null],
  ]),
  ...['W/"v1"', '"v1-gzip"', '"v1;br"'].map((tag): Overcome => [
    `tags a compressed answer with ${tag}`,
    [stating({ etag: tag }, 30, "breaks"), (from) => part(from)],
    [null, "bytes=30-"],
  ]),
  ...wrongParts.map(([name, answer]): Overcome => [
    `sends ${name} instead of the rest`,
    [breaksOff, answer, () => whole()],
    [null, "bytes=30-", null],
  ]),
];

const dated = (day: string) => ({ "last-modified": `${day} Nov 2026 00:00:00 GMT` });
const changed = "http://host/f changed while it was read: load it again";
const noRest = "the host does not send the rest of http://host/f: ";

/** What a host does, its answers, the error, and the number of requests. */
type Fatal = [name: string, answers: Answer[], message: string, requests: number];
const fatal: Fatal[] = [
  ["fails four times without a byte in between", [breaksOff, fails], "Failed to fetch", 4],
  ["sends the same bytes again and again", [breaksOff], "reset", 4],
  [
    "becomes busy in the middle of the file",
    [breaksOff, () => status(503, { "retry-after": "600" })],
    `${noRest}503: try again in 10 minutes`,
    2,
  ],
  ...wrongParts.map(([name, answer]): Fatal => [`sends only ${name}`, [breaksOff, answer], noRest, 3]),
  ...(
    [
      ["size", etag, { ...etag, "content-range": "bytes 30-98/99" }],
      ["tag", etag, { etag: '"v2"', "content-range": "bytes 30-99/100" }],
      ["date", dated("Sat, 21"), { ...dated("Sun, 22"), "content-range": "bytes 30-99/100" }],
    ] as const
  ).map(([name, first, second]): Fatal => [
    `sends the rest of a file of another ${name}`,
    [stating({ ...first, "content-length": "100" }, 30, "breaks"), partStating(second)],
    changed,
    2,
  ]),
];

it.each(overcome)("steadyFetch overcomes a host that %s", async (_, answers, ranges, reasons) => {
  const { asked, retries, read } = host(...answers);
  expect(await inTime(read())).toEqual(file);
  expect(asked).toEqual(ranges);
  if (reasons) expect(retries).toEqual(reasons);
});

it.each(fatal)("steadyFetch fails if the host %s", async (_, answers, message, times) => {
  const { asked, read } = host(...answers);
  const failure = await inTime(read()).catch((error: unknown) => error);
  expect(failure).toMatchObject({ message: expect.stringContaining(message) as string });
  expect(asked).toHaveLength(times);
  expect(failure instanceof ChangedFileError).toBe(message === changed);
  if (message.includes("http://host/f"))
    expect(failure).toMatchObject({ name: "LoadError", code: "network" });
});

it.each([
  ...[401, 403, 404, 410, 501].map((code) => [code, {}, 1] as const),
  [503, {}, 4],
  [503, { "retry-after": "31" }, 1], // longer than half a minute
] as const)("steadyFetch returns the answer %i with %o after %i requests", async (code, headers, times) => {
  const { asked, fetchSteadily } = host(() => status(code, headers));
  expect((await inTime(fetchSteadily("http://host/f"))).status).toBe(code);
  expect(asked).toHaveLength(times);
});

it.each([
  ["with ranges", (from: number) => part(from, 20, "breaks"), (from: number) => part(from)],
  ["without", () => whole(60, "breaks"), () => whole()],
])("steadyFetch returns the rest of a file of a host %s, and resumes in it", async (_, ...answers) => {
  const { asked, fetchSteadily } = host(...answers);
  const response = await inTime(fetchSteadily("http://host/f", { headers: { range: "bytes=40-" } }));
  expect(response.status).toBe(206);
  expect(new Uint8Array(await inTime(response.arrayBuffer()))).toEqual(file.subarray(40));
  expect(asked).toEqual(["bytes=40-", "bytes=60-"]);
});

it("steadyFetch refuses a different range than requested if there is nothing else", async () => {
  const { asked, read } = host(() => part(30));
  await expect(inTime(read({ headers: { range: "bytes=40-" } }))).rejects.toThrow(`${noRest}206`);
  expect(asked).toEqual(["bytes=40-", null]);
});

it("steadyFetch waits as long as the host says", async () => {
  vi.spyOn(Math, "random").mockReturnValue(0.5); // a pause of 300 ms is added
  const times: number[] = [];
  const at = (answer: () => Response) => () => (times.push(Date.now()), answer());
  const { read } = host(
    at(() => status(503, { "retry-after": "7" })),
    at(() => whole()),
  );
  await inTime(read());
  const [first = 0, second = 0] = times;
  expect(second - first).toBeGreaterThanOrEqual(7300);
  expect(second - first).toBeLessThan(7400);
});

it("an offline download waits for the network, reports it, and continues when it is back", async () => {
  const { navigator, events } = goOffline();
  const { asked, retries, read } = host(breaksOff, fails, (from) => part(from));
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

it("an offline download retries without an end, as the browser's events may be missing or wrong", async () => {
  goOffline();
  let isThere = false;
  const { read } = host(() => (isThere ? whole() : fails()));
  const reading = read();
  await vi.advanceTimersByTimeAsync(3_600_000);
  isThere = true;
  await vi.advanceTimersByTimeAsync(5000);
  expect(await inTime(reading)).toEqual(file);
});

it.each([
  ["asks", silent],
  ["reads", () => whole(30, "stalls")],
  ["pauses", () => status(503, { "retry-after": "30" })],
  ["waits for the network", () => (goOffline(), fails())],
] as const)("steadyFetch is aborted at once while it %s", async (_, answer) => {
  const controller = new AbortController();
  const { asked, read } = host(answer);
  const settled = vi.fn();
  read({ signal: controller.signal }).catch(settled);
  await vi.advanceTimersByTimeAsync(500);
  expect(settled).not.toHaveBeenCalled();
  controller.abort(new Error("enough"));
  await vi.advanceTimersByTimeAsync(0);
  expect(settled).toHaveBeenCalledWith(new Error("enough"));
  await vi.advanceTimersByTimeAsync(60_000);
  expect(asked).toHaveLength(1);
});

it("steadyFetch keeps its request's options, and adds a range", async () => {
  const inits: RequestInit[] = [];
  const { read } = host(
    (_, init) => (inits.push(init), whole(30, "breaks")),
    (from, init) => (inits.push(init), part(from)),
  );
  await inTime(read({ headers: { "x-key": "1" }, credentials: "include", cache: "reload" }));
  for (const each of inits) expect(each).toMatchObject({ credentials: "include", cache: "reload" });
  expect(inits.map(({ headers }) => Object.fromEntries(new Headers(headers)))).toEqual([
    { "x-key": "1" },
    { range: "bytes=30-", "x-key": "1" },
  ]);
});

it("steadyFetch ends a connection that was silent, or whose reader stops", async () => {
  const signals: (AbortSignal | null | undefined)[] = [];
  const keep =
    (answer: () => Response | Promise<Response>): Answer =>
    (_, init) => {
      signals.push(init.signal);
      return answer();
    };
  const { fetchSteadily } = host(
    keep(silent),
    keep(() => whole(30, "stalls")),
  );
  const response = await inTime(fetchSteadily("http://host/f"));
  expect(signals.map((signal) => signal?.aborted)).toEqual([true, false]);
  await response.body?.cancel();
  expect(signals[1]?.aborted).toBe(true);
});
