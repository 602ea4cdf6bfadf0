import { resolveObjectURL } from "node:buffer";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

beforeEach(() => void vi.resetModules()); // it keeps its policy
afterEach(() => vi.unstubAllGlobals());
const load = () => import("../../web/src/shared/script-address.js");

describe("trusted", () => {
  it("is the address itself where there are no Trusted Types", async () => {
    const { trusted } = await load();
    expect(trusted("http://host/a.js")).toBe("http://host/a.js");
  });

  it("is what the policy gpt2-wasm makes of it, which is made once, when it is needed", async () => {
    const createPolicy = vi.fn((_name: string, rules: object) => rules);
    vi.stubGlobal("trustedTypes", { createPolicy });
    const { trusted } = await load();
    expect(createPolicy).not.toHaveBeenCalled();
    expect([trusted("a"), trusted("b")]).toEqual(["a", "b"]);
    expect(createPolicy.mock.calls.map(([name]) => name)).toEqual(["gpt2-wasm"]);
  });

  it("is the address itself where the page does not allow the policy", async () => {
    vi.stubGlobal("trustedTypes", {
      createPolicy() {
        throw new TypeError("not in the list");
      },
    });
    const { trusted } = await load();
    expect(trusted("a")).toBe("a");
  });
});

describe("a script's address", () => {
  it.each([
    ["http://page/x.js", false],
    ["x.js", false],
    ["http://cdn/x.js", true],
    ["https://page/x.js", true],
    ["blob:http://page/1", false],
    ["blob:null/1", false], // of a sandboxed frame, whose origin has no name
  ])("%s: at another origin is %s", async (address, expected) => {
    vi.stubGlobal("self", { origin: "http://page", location: { href: "http://page/a/" } });
    expect((await load()).isForeign(address)).toBe(expected);
  });

  it("of a page without an origin imports it, too", async () => {
    vi.stubGlobal("self", { origin: "null" });
    const address = (await load()).asOwnScript("http://cdn/x.js");
    expect(decodeURIComponent(address)).toBe('data:text/javascript,import "http://cdn/x.js";');
  });

  it("of this origin imports the script that lies elsewhere", async () => {
    vi.stubGlobal("self", { origin: "http://page" });
    const blob = resolveObjectURL((await load()).asOwnScript('http://cdn/"x".js'));
    expect(await blob?.text()).toBe(String.raw`import "http://cdn/\"x\".js";`);
    expect(blob?.type).toBe("text/javascript");
  });
});
