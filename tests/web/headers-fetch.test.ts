// The caller's headers reach the model's own origin and no other, in Node.js, where redirects can be followed by hand.
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { fetchFileToo } from "../../web/src/node/fetch-file.js";
import { headersFetch } from "../../web/src/loader/headers-fetch.js";
import type { LoadRequest } from "../../web/src/shared/protocol.js";
import { redirectTo, TwoHosts } from "./support/two-hosts.js";

let hosts: TwoHosts;
beforeEach(async () => void (hosts = await new TwoHosts().start()));
afterEach(() => {
  hosts.stop();
  vi.unstubAllGlobals();
});

const ask = (path: string, request: Partial<LoadRequest> = {}) => {
  const { headers = [], credentials, redirect } = request;
  return headersFetch({ headers, credentials, redirect }, `${hosts.own}/m/`)(path, {
    headers: { Range: "bytes=1-" },
  });
};
const token = ["authorization", "Bearer t"] as const;
const key = ["x-api-key", "k"] as const;

/** The contacted hosts, and the headers that each received. */
const seen = () =>
  hosts.asked.map(({ host, path, headers }) => [
    host,
    path,
    ...["authorization", "x-api-key", "range"].map((name) => headers[name]),
  ]);

describe("a redirect to another origin", () => {
  beforeEach(() => {
    hosts.answers["/m/moved"] = redirectTo(`${hosts.other}/x`);
    hosts.answers["/m/twice"] = redirectTo("/m/moved");
    hosts.answers["/m/back"] = redirectTo(`${hosts.other}/back`);
    hosts.answers["/back"] = redirectTo(`${hosts.own}/elsewhere`);
  });

  it("a redirect to another origin gets no token", async () => {
    expect(await (await ask(`${hosts.own}/m/moved`, { headers: [token] })).text()).toBe("other/x");
    expect(seen()).toEqual([
      ["own", "/m/moved", "Bearer t", undefined, "bytes=1-"],
      ["other", "/x", undefined, undefined, "bytes=1-"],
    ]);
  });

  it.each([
    ["Chrome/118.0.0.0", "manual"],
    ["Chrome/119.0.0.0", undefined],
    ["Gecko/20100101 Firefox/114.0", undefined],
  ])(
    "a redirect to another origin gets no token from %s, though old versions would send it",
    async (userAgent, redirect) => {
      vi.stubGlobal("navigator", { userAgent: `Mozilla/5.0 (X11) ${userAgent} Safari/537.36` });
      const fetchSpy = vi.fn(fetch);
      vi.stubGlobal("fetch", fetchSpy);
      await ask(`${hosts.own}/m/moved`, { headers: [token] });
      expect(fetchSpy.mock.calls[0]?.[1]?.redirect).toBe(redirect);
      expect(seen().at(-1)).toEqual(["other", "/x", undefined, undefined, "bytes=1-"]);
    },
  );

  it("a redirect to another origin gets no custom header, after any kind of redirect", async () => {
    expect(await (await ask(`${hosts.own}/m/twice`, { headers: [token, key] })).text()).toBe("other/x");
    expect(seen()).toEqual([
      ["own", "/m/twice", "Bearer t", "k", "bytes=1-"],
      ["own", "/m/moved", "Bearer t", "k", "bytes=1-"],
      ["other", "/x", undefined, undefined, "bytes=1-"],
    ]);
  });

  it("a redirect to another origin and back gets no headers", async () => {
    await ask(`${hosts.own}/m/back`, { headers: [key] });
    expect(seen().map(([host, path, , sent]) => [host, path, sent])).toEqual([
      ["own", "/m/back", "k"],
      ["other", "/back", undefined],
      ["own", "/elsewhere", undefined],
    ]);
  });

  it('a redirect to another origin is refused with redirect: "error"', async () => {
    await expect(ask(`${hosts.own}/m/moved`, { redirect: "error" })).rejects.toMatchObject({
      code: "network",
      message: `cannot fetch ${hosts.own}/m/moved: the host redirects, and the option redirect is "error"`,
    });
    expect(hosts.asked).toHaveLength(1);
  });
});

it("a request to another origin gets none of the headers", async () => {
  await ask(`${hosts.other}/m/x`, { headers: [token, key] });
  expect(seen()).toEqual([["other", "/m/x", undefined, undefined, "bytes=1-"]]);
});

it("a redirect to a local file is refused, and so are more than 20 redirects", async () => {
  vi.stubGlobal("fetch", fetchFileToo(fetch));
  hosts.answers["/m/file"] = redirectTo("file:///etc/hostname");
  hosts.answers["/m/round"] = redirectTo("/m/round");
  hosts.answers["/m/none"] = redirectTo("http://[");
  await expect(ask(`${hosts.own}/m/file`, { headers: [key] })).rejects.toThrow(
    `cannot fetch ${hosts.own}/m/file: it redirects to file:///etc/hostname`,
  );
  await expect(ask(`${hosts.own}/m/round`, { headers: [key] })).rejects.toThrow("more than 20 times");
  await expect(ask(`${hosts.own}/m/none`, { headers: [key] })).rejects.toMatchObject({ code: "network" });
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
