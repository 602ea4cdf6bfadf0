// The hub's client with the answers of a malicious or broken hub.
import { afterEach, expect, it, vi } from "vitest";
import { parseHub, parseToken } from "../../weights_tools/hub/addresses.mjs";
import { chooseShards } from "../../weights_tools/hub/choose-files.mjs";
import { request } from "../../weights_tools/hub/download.mjs";
import { FetchError, quoted, UsageError, visible } from "../../weights_tools/hub/messages.mjs";
import { openRepository, parseId } from "../../weights_tools/hub/repository.mjs";
import { commit, entry, ScriptedHub, token, usualEntries } from "./scripted-hub.js";

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

const hub = "https://hub.example";
const wanted = { id: "user/tied", revision: "main" };
const open = (scripted: ScriptedHub) => openRepository(wanted, scripted.access);
/** Opens a model of which the hub answers `list` for its files. */
const openWith = (list: BodyInit) =>
  open(new ScriptedHub(hub, (url) => (isTree(url) ? new Response(list) : undefined)));
const isTree = ({ pathname }: URL) => pathname.includes("/tree/");
const isAbout = ({ pathname }: URL) => pathname.includes("/revision/");
const to = (location: string, status = 302) => new Response(null, { status, headers: { location } });

async function problem(work: Promise<unknown>): Promise<string> {
  const error = await work.then(
    () => new Error("it worked"),
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(FetchError);
  return String(error);
}

it.each<[string, unknown, string]>([
  ["HTML", "<html>", "for the list"],
  ["half of it", '[{"type":"file"', "expected JSON"],
  ["deep nesting", "[".repeat(1e6), "expected JSON"],
  ["null", null, "answered null for the list of files of user/tied at main, expected an array"],
  ["an object", {}, "answered an object for"],
  ["a null entry", [null], "lists null without a path and a type"],
  ["an array as an entry", [[]], "lists an array without a path"],
  ["a path that is a number", [{ ...entry("x"), path: 7 }], "lists 7 without a path"],
  [
    "no size",
    [{ ...entry("x"), size: undefined }],
    'lists "x" with the size nothing, expected a number of bytes',
  ],
  ["a negative size", [entry("x", -1)], 'lists "x" with the size -1'],
  ["half a byte", [entry("x", 0.5)], "with the size 0.5"],
  ["more than a number holds", [entry("x", 2 ** 53)], "with the size 9007199254740992"],
  ["a numeric oid", [{ ...entry("x"), oid: 7 }], 'lists "x" without a hash'],
  ["an oid that is not hexadecimal", [{ ...entry("x"), oid: "../".repeat(13) + "x" }], "without a hash"],
  ["a null sha256", [{ ...entry("x"), lfs: { oid: null, size: 3 } }], "without a hash"],
  ["a short sha256", [{ ...entry("x"), lfs: { oid: "ab", size: 3 } }], "without a hash"],
  ["lfs that is a text", [{ ...entry("x"), lfs: "yes" }], "with the size nothing"],
  ["a name twice", [entry("x"), entry("x")], 'lists "x" twice'],
])("a list of files with %s is refused in a sentence", async (_, list, sentence) => {
  const text = typeof list === "string" ? list : JSON.stringify(list);
  expect(await problem(openWith(text))).toContain(sentence);
});

it.each<[unknown, string]>([
  [{}, "nothing"],
  [null, "nothing"],
  [{ sha: 7 }, "7"],
  [{ sha: "../../x" }, '"../../x"'],
])("the commit of %j is refused", async (about, found) => {
  const scripted = new ScriptedHub(hub, (url) => (isAbout(url) ? Response.json(about) : undefined));
  expect(await problem(open(scripted))).toContain(`the commit ${found} for`);
});

it("files whose names lead out of the folder are ignored", async () => {
  const names = ["../x", "a/../b", "/etc/x", "sub/x", "C:x", "a\\b", "a\u001bb", "..", "", "x\u202ey"];
  const list = [
    ...usualEntries,
    ...names.map((name) => entry(name)),
    { ...entry("folder"), type: "directory" },
  ];
  const { files } = await openWith(JSON.stringify(list));
  expect([...files.keys()]).toEqual(["config.json", "model.safetensors"]);
});

it("a name is encoded in its address", async () => {
  const { files } = await openWith(JSON.stringify([entry("a?b#c%2e.json")]));
  expect(files.get("a?b#c%2e.json")?.url).toBe(`${hub}/user/tied/resolve/${commit}/a%3Fb%23c%252e.json`);
});

/** The shards that a list of shards names, in a model with files of these sizes. */
function shardsOf(sizes: Record<string, number>, list: unknown) {
  const hash = { algorithm: "sha256" as const, digest: "" };
  const files = Object.entries(sizes).map(([name, size]) => [name, { name, url: "", size, hash }] as const);
  const repository = { id: "user/tied", commit, files: new Map(files) };
  return chooseShards(repository, "model.safetensors.index.json", JSON.stringify(list));
}

it("shards that are one file on some disks are refused, and so are shards that would fill the disk", () => {
  const sizes = { "A.safetensors": 1, "a.safetensors": 1, "large.safetensors": 1e15 };
  const halves = { "1.safetensors": 32e9, "2.safetensors": 32e9 };
  const choose = (...names: string[]) => shardsOf({ ...sizes, ...halves }, { weight_map: names });
  expect(() => choose("A.safetensors", "a.safetensors")).toThrow("differ only in upper and lower case");
  expect(() => choose("large.safetensors")).toThrow(
    "has 1000000000000000 bytes, expected at most 64000000000",
  );
  expect(choose("1.safetensors", "2.safetensors")).toHaveLength(2);
  expect(() => choose("1.safetensors", "a.safetensors", "2.safetensors")).toThrow(
    "names shards of 64000000001 bytes together, expected at most 64000000000",
  );
});

it.each([
  ["https://evil.example/api", 'at "evil.example"'],
  ["http://hub.example/api", 'at "hub.example"'],
  ["https://user@hub.example/api", 'at "hub.example"'],
  ["file:///etc/passwd", 'at ""'],
  ["https://hub.example:81/x", 'at "hub.example:81"'],
])("a list that continues at %s is refused, and no request goes there", async (next, sentence) => {
  const scripted = new ScriptedHub(hub, (url) =>
    isTree(url) ? Response.json(usualEntries, { headers: { Link: `<${next}>; rel="next"` } }) : undefined,
  );
  expect(await problem(open(scripted))).toContain(sentence);
  expect(scripted.asked.map(({ url }) => url.origin)).toEqual([hub, hub]);
});

it("a list may have several pages, but not endlessly many", async () => {
  const page = (url: URL, name: string, next?: string) =>
    isTree(url)
      ? Response.json([entry(name)], { headers: next ? { Link: `<${next}>; rel="next"` } : {} })
      : undefined;
  const two = new ScriptedHub(hub, (url) => (url.search ? page(url, "b") : page(url, "a", "?cursor=2")));
  expect([...(await open(two)).files.keys()]).toEqual(["a", "b"]);
  let count = 0;
  const endless = new ScriptedHub(hub, (url) => page(url, `n${count++}`, `?cursor=${count}`));
  expect(await problem(open(endless))).toContain("into more than 100 pages");
});

it("an endless answer is cut off", async () => {
  const endless = new ReadableStream({ pull: (stream) => stream.enqueue(new Uint8Array(1 << 20).fill(32)) });
  expect(await problem(openWith(endless))).toContain("sent more than 32 MiB");
});

it("waiting for a silent hub is reported, and limited", async () => {
  vi.useFakeTimers();
  const said = vi.spyOn(console, "error").mockReturnValue();
  const { access } = new ScriptedHub(hub, () => undefined);
  access.ask = (_, { signal }) =>
    new Promise((_, reject) => signal?.addEventListener("abort", () => reject(signal.reason as Error)));
  access.listingMs = 60_000;
  const opened = problem(openRepository(wanted, access));
  await vi.advanceTimersByTimeAsync(3000);
  expect(said.mock.calls).toEqual([["waiting for hub.example to answer for user/tied at main"]]);
  await vi.advanceTimersByTimeAsync(57_000);
  expect(await opened).toContain(`${hub} has not listed the model's files within 60 s`);
  expect(vi.getTimerCount()).toBe(0);
});

it.each([
  [401, /does not give access to user\/tied at main: .*HF_TOKEN/],
  [403, /restricts access to user\/tied at main: accept its conditions/],
  [404, /has no user\/tied at main/],
  [429, /received too many requests from this network/],
  [500, /answered 500 for user\/tied at main/],
])("the hub's answer %i is explained", async (status, sentence) => {
  expect(await problem(open(new ScriptedHub(hub, () => new Response(null, { status }))))).toMatch(sentence);
});

it.each<[unknown, string]>([
  [
    { a: "model-1.safetensors", b: "model-9.safetensors" },
    'names the shard "model-9.safetensors", which is not',
  ],
  [{ a: "../x.safetensors" }, 'names the shard "../x.safetensors": it has the part ".."'],
  [{ a: "/tmp/x.safetensors" }, 'names the shard "/tmp/x.safetensors"'],
  [{ a: "a\u202eb.safetensors" }, "it contains the invisible character U+202E"],
  [{ a: [7] }, "names the shard an array, expected the name of a .safetensors file"],
  [{ a: "config.json" }, 'names the shard "config.json", expected'],
  [{ a: ".fetching" }, 'names the shard ".fetching", expected'],
  [{ a: "x".repeat(1000) }, `names the shard "${"x".repeat(100)}"... (1000 characters), expected`],
  [{}, 'has no "weight_map"'],
  [undefined, 'has no "weight_map"'],
])("a list of shards %j is refused", (weight_map, sentence) => {
  const list = weight_map === undefined ? null : { weight_map };
  expect(() => shardsOf({ "model-1.safetensors": 1 }, list)).toThrow(sentence);
});

const file = {
  name: "config.json",
  url: `${hub}/user/tied/resolve/x/config.json`,
  size: 3,
  hash: { algorithm: "sha256" as const, digest: "" },
};
const ask = (scripted: ScriptedHub) => request(file, 0, scripted.access, new AbortController().signal);
const redirecting = (location: string, status = 302, from = hub) =>
  new ScriptedHub(from, (url) =>
    url.href === file.url.replace(hub, from) ? to(location, status) : undefined,
  );

it.each([
  ["file:///etc/passwd", 'with "file:", expected https:'],
  ["data:,x", 'with "data:"'],
  ["ftp://files.example/x", 'with "ftp:"'],
  ["http://cdn.example/x", "to cdn.example without encryption"],
  ["http://hub.example/x", "to hub.example without encryption"],
  ["https://user:pw@cdn.example/x", "to cdn.example with a user name"],
  ["https://127.0.0.1/x", "to 127.0.0.1, which is in a private network"],
  ["https://127.1/x", "to 127.0.0.1, which"],
  ["https://2130706433/x", "to 127.0.0.1, which"],
  ["https://0/x", "to 0.0.0.0, which"],
  ["https://169.254.169.254/latest/meta-data", "private network"],
  ["https://192.168.0.1/x", "private network"],
  ["https://[::1]/x", "private network"],
  ["https://[::ffff:10.0.0.1]/x", "private network"],
  ["https://[fd00::1]/x", "private network"],
  ["https://localhost:8080/x", "private network"],
  ["https://a.localhost./x", "private network"],
  ["https://intranet/x", "private network"],
  ["https://router.example/x", "private network"],
  ["https://[", "which is not an address"],
  ["http:\u00c3\u0080", "which is not an address"],
  ["/user/tied/resolve/x/config.json", "more than 10 times"],
])("a redirect to %s is refused", async (location, sentence) => {
  const scripted = redirecting(location);
  expect(await problem(ask(scripted))).toContain(sentence);
  expect(new Set(scripted.asked.map(({ url }) => url.origin))).toEqual(new Set([hub]));
});

it.each([301, 302, 303, 307, 308])("the token stays at the hub when it answers %i", async (status) => {
  const scripted = redirecting("https://cdn.example/x", status);
  expect((await ask(scripted)).isPart).toBe(false);
  expect(scripted.asked.map(({ url, hasToken }) => [url.host, hasToken])).toEqual([
    ["hub.example", true],
    ["cdn.example", false],
  ]);
});

it("the token is not sent again when another host redirects back to the hub", async () => {
  const scripted = new ScriptedHub(hub, (url) => {
    if (url.href === file.url) return to("https://cdn.example/x");
    return url.host === "cdn.example" ? to(`${hub}/settings`) : undefined;
  });
  await ask(scripted);
  expect(scripted.asked.map(({ hasToken }) => hasToken)).toEqual([true, false, false]);
});

it("a hub in a private network may redirect within it", async () => {
  const scripted = new ScriptedHub("http://intranet", () => undefined);
  scripted.access.ask = (address) =>
    Promise.resolve(address.includes("//store") ? new Response("abc") : to("http://store.localhost/x"));
  expect(
    (await request({ ...file, url: "http://intranet/x" }, 0, scripted.access, new AbortController().signal))
      .isPart,
  ).toBe(false);
});

it("the facts about a model are accepted only from the hub itself", async () => {
  const scripted = new ScriptedHub(hub, (url) => (isAbout(url) ? to("https://cdn.example/x") : undefined));
  expect(await problem(open(scripted))).toContain(
    "redirects user/tied at main to cdn.example, expected an answer from the hub itself",
  );
  expect(scripted.asked.length).toBe(1);
});

it.each([
  "hub",
  "ftp://hub.example",
  "file:///etc",
  "https://me:hf_secretsecret@hub.example",
  "me:hf_secretsecret@hub.example",
  "https://me:hf_secretsecret@hub example",
  "https://hub.example/?token=hf_secretsecret",
  "https://hub.example/#hf_secretsecret",
])("the hub's address %s is refused and not repeated", (text) => {
  expect(() => parseHub(text)).toThrow(UsageError);
  expect(() => parseHub(text)).not.toThrow("hf_secretsecret");
});

it("a hub's address may have a path and slashes at its end", () => {
  expect(parseHub("https://mirror.example/hf//")).toBe("https://mirror.example/hf");
});

it.each(["hf_secret\n", "\rhf_secret", "hf secret", "hf_sécret", "hf_secret\u0000", "hf_\u202esecret"])(
  "the token %j is refused and not repeated",
  (text) => {
    expect(() => parseToken(text)).toThrow(UsageError);
    expect(() => parseToken(text)).not.toThrow(/s[eé]cret/);
  },
);

it.each([
  "..",
  "user/..",
  "../user",
  "./x",
  "user/tied@..",
  "user/tied@a/../b",
  "user/tied@a\u001bb",
  "@main",
  "",
])("%j is not a model id", (text) => {
  expect(() => parseId(text)).toThrow("is not a model id");
});

it("no text controls the terminal or shows the token", () => {
  vi.stubEnv("HF_TOKEN", token);
  expect(visible(`a\u001b]0;x\u0007\n\u009b1m\u202e\u200b\u2028\ud800 ${token}`)).toBe(
    "a\\u001b]0;x\\u0007\\u000a\\u009b1m\\u202e\\u200b\\u2028\\ud800 [HF_TOKEN]",
  );
  expect(visible("\u{e0041}")).toBe("\\udb40\\udc41");
  expect(quoted(`${"x".repeat(95)}${token}${token}`)).not.toContain(token.slice(0, 5));
  const json = JSON.stringify({ a: '\u001b\u009b"\\\u202e' });
  expect(JSON.parse(visible(json))).toEqual(JSON.parse(json));
  vi.unstubAllEnvs();
});
