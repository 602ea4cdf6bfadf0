// The caller's headers reach the model's own origin and no other, in Node.js, where redirects can be followed by hand.
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { fetchFileToo } from "../../web/src/node/fetch-file.js";
import { headersFetch } from "../../web/src/model/sources/headers-fetch.js";
import type { LoadRequest } from "../../web/src/shared/protocol.js";
import { redirectTo, TwoHosts } from "./support/two-hosts.js";

let hosts: TwoHosts;
beforeEach(async () => void (hosts = await new TwoHosts().start()));
afterEach(() => hosts.stop());

const ask = (path: string, request: Partial<LoadRequest> = {}) => {
  const { headers = [], credentials, redirect } = request;
  return headersFetch({ headers, credentials, redirect }, `${hosts.own}/m/`)(path, {
    headers: { Range: "bytes=1-" },
  });
};
const token = ["authorization", "Bearer t"] as const;
const key = ["x-api-key", "k"] as const;

/** Each request: its address, without the port, and the secrets in its headers. */
const seen = () =>
  hosts.asked.map(({ host, path, headers }) =>
    [host + path, headers.authorization, headers["x-api-key"]].filter(Boolean).join(" "),
  );
const redirect = (from: string, to: string) => (hosts.answers[from] = redirectTo(to));

it.each([
  ["a token", "/m/moved", [token], ["own/m/moved Bearer t", "other/x"]],
  [
    "any header after two redirects",
    "/m/twice",
    [token, key],
    ["own/m/twice Bearer t k", "own/m/moved Bearer t k", "other/x"],
  ],
  ["any header, not even at home again", "/m/back", [key], ["own/m/back k", "other/back", "own/elsewhere"]],
] as const)("a redirect to another origin does not send %s", async (_, path, headers, expected) => {
  redirect("/m/moved", `${hosts.other}/x`);
  redirect("/m/twice", "/m/moved");
  redirect("/m/back", `${hosts.other}/back`);
  redirect("/back", `${hosts.own}/elsewhere`);
  const last = expected.at(-1) ?? "";
  expect(await (await ask(hosts.own + path, { headers: [...headers] })).text()).toBe(last);
  expect(seen()).toEqual(expected);
  for (const request of hosts.asked) expect(request.headers.range).toBe("bytes=1-");
});

it.each([
  ["Chrome/118.0.0.0", "manual"],
  ["Chrome/119.0.0.0", undefined],
  ["Gecko/20100101 Firefox/114.0", undefined],
])("%s sends no token after a redirect, though old versions would", async (userAgent, mode) => {
  vi.stubGlobal("navigator", { userAgent: `Mozilla/5.0 (X11) ${userAgent} Safari/537.36` });
  const fetchSpy = vi.fn(fetch);
  vi.stubGlobal("fetch", fetchSpy);
  redirect("/m/moved", `${hosts.other}/x`);
  await ask(`${hosts.own}/m/moved`, { headers: [token] });
  expect(fetchSpy.mock.calls[0]?.[1]?.redirect).toBe(mode);
  expect(seen().at(-1)).toBe("other/x");
});

it("a request to another origin gets none of the headers", async () => {
  await ask(`${hosts.other}/m/x`, { headers: [token, key] });
  expect(seen()).toEqual(["other/m/x"]);
});

it("redirects are refused if the option says so, to a local file, to no address, and after twenty", async () => {
  vi.stubGlobal("fetch", fetchFileToo(fetch));
  redirect("/m/moved", `${hosts.other}/x`);
  redirect("/m/file", "file:///etc/hostname");
  redirect("/m/round", "/m/round");
  redirect("/m/none", "http://[");
  for (const [path, request, message] of [
    ["/m/moved", { redirect: "error" }, 'the host redirects, and the option redirect is "error"'],
    ["/m/file", { headers: [key] }, "it redirects to file:///etc/hostname"],
    ["/m/round", { headers: [key] }, "it redirects more than 20 times"],
    ["/m/none", { headers: [key] }, "the host redirects, and a browser would send x-api-key"],
  ] as const)
    await expect(ask(hosts.own + path, request as Partial<LoadRequest>)).rejects.toMatchObject({
      code: "network",
      message: expect.stringContaining(`cannot fetch ${hosts.own}${path}: ${message}`),
    });
  expect(hosts.asked).toHaveLength(1 + 1 + 21 + 1);
});

it("in a browser, which hides the target of a redirect, requests with secret headers follow none", async () => {
  const hidden = Object.defineProperties(new Response(null), {
    type: { value: "opaqueredirect" },
    status: { value: 0 },
  });
  const fetched = vi.fn(async (..._: Parameters<typeof fetch>) => hidden);
  vi.stubGlobal("fetch", fetched);
  const refused = (request: Partial<LoadRequest>) =>
    expect(ask(`${hosts.own}/m/x`, request)).rejects.toMatchObject({
      code: "network",
      message: expect.stringMatching(
        /the host redirects, and a browser would send (x-api-key|cookies) to the new address/,
      ),
    });
  await refused({ headers: [token, key] });
  await refused({ credentials: "include" });
  expect(fetched.mock.calls.map(([, init]) => init?.redirect)).toEqual(["manual", "manual"]);
});

it("without secret headers and a redirect option, only what the caller set is passed to fetch", async () => {
  const fetched = vi.fn(async (..._: Parameters<typeof fetch>) => new Response("x"));
  vi.stubGlobal("fetch", fetched);
  const address = `${hosts.own}/m/u`;
  await ask(address, { headers: [token], credentials: "omit" });
  await headersFetch({ headers: [], credentials: undefined, redirect: undefined }, hosts.own)(address, {
    cache: "reload",
  });
  const headers = { authorization: "Bearer t", range: "bytes=1-" };
  expect(
    fetched.mock.calls.map(([url, init]) => [
      url,
      { ...init, headers: Object.fromEntries(new Headers(init?.headers)) },
    ]),
  ).toEqual([
    [address, { headers, credentials: "omit" }],
    [address, { headers: {}, cache: "reload" }],
  ]);
});

const mixed = /block requests of an https: page to http: addresses/;
const local = /not let this page reach the local network/;
it.each([
  ["https://a/", "http://b/x", [], mixed],
  ["blob:https://a/1", "http://b/x", [], mixed],
  ["https://a/", "http://localhost:8080/x", [], undefined],
  ["https://a/", "https://b/x", ["local-network-access"], undefined],
  ["http://a/", "http://b/x", [], undefined],
  ["https://a/", "http://localhost:8080/x", ["loopback-network"], local],
  ["https://a/", "http://192.168.1.7/x", ["local-network"], local],
  ["https://a/", "https://nas.local/x", ["local-network-access"], local],
  ["https://nas.local/", "https://nas.local/x", ["local-network-access"], undefined],
])("from %s, the failure of %s with %j denied is explained: %s", async (href, url, denied: string[], why) => {
  const failure = new TypeError("Failed to fetch");
  vi.stubGlobal("location", { href });
  vi.stubGlobal("fetch", () => Promise.reject(failure));
  const query = async ({ name }: { name: string }) => {
    if (!denied.includes(name)) throw new TypeError("unknown"); // not in this browser
    return { state: "denied" };
  };
  vi.stubGlobal("navigator", { userAgent: "", permissions: { query } });
  const error: unknown = await ask(url).catch((reason: unknown) => reason);
  if (why) expect(error).toMatchObject({ code: "network", message: expect.stringMatching(why) as string });
  else expect(error).toBe(failure);
});
