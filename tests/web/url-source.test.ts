// The files of a folder on a static host: their addresses, and what each answer of the host means, also of a busy one.
import { expect, it, vi } from "vitest";
import { fetchFile, UrlSource } from "../../web/src/model/sources/model-source.js";

const { signal } = new AbortController();
const html = { headers: { "content-type": "text/html; charset=utf-8" } };

const answer = (response: Response) => new UrlSource("http://host/m/", async () => response);

it.each([
  [new Response("", { status: 404, statusText: "Gone" }), "not-found", "the host answered 404 Gone"],
  [new Response("", { status: 410 }), "not-found", "the host answered 410 "],
  [new Response("", { status: 403 }), "network", "the host answered 403 "],
  [new Response("", { status: 503 }), "network", "the host answered 503 "],
  [new Response("<!doctype html>", html), "not-found", "the host answered with a web page"],
])("UrlSource names the address and the host's answer (%#)", async (response, code, reason) => {
  const message = `cannot fetch http://host/m/x: ${reason}`;
  await expect(answer(response).open("x", { signal })).rejects.toMatchObject({ code, message });
});

it("UrlSource reports a failure before an answer as a network error, except an abort", async () => {
  const source = new UrlSource("http://host/m/", async () => Promise.reject(new TypeError("offline")));
  await expect(source.open("x", { signal })).rejects.toMatchObject({
    code: "network",
    message: "cannot fetch http://host/m/x: TypeError: offline",
  });
  const aborted = AbortSignal.abort(new Error("enough"));
  await expect(source.open("x", { signal: aborted })).rejects.toThrow("enough");
});

it.each([
  ["a stated length", new Response("abc", { headers: { "content-length": "3" } }), 3, "abc"],
  [
    "the length of a compressed answer",
    new Response("abc", { headers: { "content-length": "5", "content-encoding": "gzip" } }),
    undefined,
    "abc",
  ],
  ["an answer without a body", new Response(null, { status: 204 }), undefined, ""],
])("UrlSource gives the size of the file if the host states it: %s", async (_, response, size, text) => {
  const file = await answer(response).open("x", { signal });
  expect(file.size).toBe(size);
  expect(await new Response(file.stream).text()).toBe(text);
});

it("UrlSource requests the rest of a file, whose answer does not state the size of the whole", async () => {
  const response = new Response("bc", { status: 206, headers: { "content-length": "2" } });
  const ask = vi.fn(async (..._: Parameters<typeof fetch>) => response);
  const file = await new UrlSource("http://host/", ask).open("x", { signal, from: 1 });
  expect(new Headers(ask.mock.calls[0]?.[1]?.headers).get("range")).toBe("bytes=1-");
  expect(file.size).toBeUndefined();
  expect(await new Response(file.stream).text()).toBe("bc");
});

it("UrlSource uses the browser's own fetch, and passes on its signal and whether to bypass caches", async () => {
  const fetched = vi.fn(async () => new Response("abc"));
  vi.stubGlobal("fetch", fetched);
  await new UrlSource("http://host/m/").open("x", { signal });
  await new UrlSource("http://host/m/").open("x", { signal, reload: true });
  expect(fetched.mock.calls).toEqual([
    ["http://host/m/x", { signal }],
    ["http://host/m/x", { signal, cache: "reload" }],
  ]);
});

it("UrlSource requests a GGUF address exactly as written, and each file with the query", async () => {
  const asked = vi.fn(async (_: string) => new Response("GGUF"));
  vi.stubGlobal("fetch", asked);
  const source = new UrlSource("http://host/m%C3%BC/", fetch, {
    file: "a%20b%2Fc.gguf",
    query: "?sign=%2F",
  });
  await source.open("a%20b%2Fc.gguf", { signal });
  await source.open("a b.json", { signal });
  expect(asked.mock.calls.map(([url]) => url)).toEqual([
    "http://host/m%C3%BC/a%20b%2Fc.gguf?sign=%2F",
    "http://host/m%C3%BC/a%20b.json?sign=%2F",
  ]);
});

it("UrlSource requests nothing for a name outside the folder", async () => {
  const asked = vi.fn();
  await expect(new UrlSource("http://host/m/", asked).open("../x", { signal })).rejects.toMatchObject({
    code: "corrupt",
    message: expect.stringContaining('"../x" is not the name of a file of the model: ') as string,
  });
  expect(asked).not.toHaveBeenCalled();
});

const date = "Sun, 22 Nov 2026 00:00:00 GMT";
const inThreeHours = new Date(Date.now() + 10_000_000).toUTCString();

it.each([
  [503, { "retry-after": "1" }, ": try again in 1 second"],
  [503, { "retry-after": "40" }, ": try again in 40 seconds"],
  [503, { "retry-after": "121" }, ": try again in 3 minutes"],
  [429, { "retry-after": "7200" }, ": try again in 2 hours"],
  [503, { "retry-after": "Sun, 22 Nov 2026 00:10:00 GMT", date }, ": try again in 10 minutes"],
  [503, { "retry-after": inThreeHours }, ": try again in 3 hours"], // by this device's clock
  [503, { "retry-after": "soon" }, ""],
  [503, {}, ""],
  [429, {}, ": try again later"],
  [401, {}, ": set the option headers or credentials"],
])("the error for the answer %i with %o gives the advice '%s'", async (status, headers, advice) => {
  const answer = new Response(null, { status, headers, statusText: "No" });
  await expect(fetchFile("http://host/f", signal, async () => answer)).rejects.toMatchObject({
    code: "network",
    message: `cannot fetch http://host/f: the host answered ${status} No${advice}`,
  });
});
