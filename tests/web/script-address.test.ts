import { resolveObjectURL } from "node:buffer";
import { runInNewContext } from "node:vm";
import { beforeEach, expect, it, vi } from "vitest";

beforeEach(() => void vi.resetModules()); // it keeps its policy
const load = () => import("../../web/src/shared/script-address.js");

const refusing = {
  createPolicy() {
    throw new TypeError("not in the list");
  },
};
it.each([
  ["without Trusted Types", undefined],
  ["if the page does not allow the policy", refusing],
])("trustedScriptUrl returns the address itself %s", async (_, trustedTypes) => {
  vi.stubGlobal("trustedTypes", trustedTypes);
  expect((await load()).trustedScriptUrl("http://host/a.js")).toBe("http://host/a.js");
});

it("trustedScriptUrl uses the policy gpt2-wasm, which is created once on first use", async () => {
  const createPolicy = vi.fn((_name: string, rules: object) => rules);
  vi.stubGlobal("trustedTypes", { createPolicy });
  const { trustedScriptUrl } = await load();
  expect(createPolicy).not.toHaveBeenCalled();
  expect([trustedScriptUrl("a"), trustedScriptUrl("b")]).toEqual(["a", "b"]);
  expect(createPolicy.mock.calls.map(([name]) => name)).toEqual(["gpt2-wasm"]);
});

it.each([
  ["http://page/x.js", false],
  ["x.js", false],
  ["http://cdn/x.js", true],
  ["https://page/x.js", true],
  ["blob:http://page/1", false],
  ["blob:null/1", false], // of a sandboxed frame, whose origin has no name
])("the address of a script at another origin: %s becomes %s", async (address, expected) => {
  vi.stubGlobal("self", { origin: "http://page", location: { href: "http://page/a/" } });
  expect((await load()).isCrossOrigin(address)).toBe(expected);
});

/** Runs `script` as a worker does, with `module` in place of its import. */
function run(script: string, module: Promise<unknown>) {
  const imported: string[] = [];
  const thrown: unknown[] = [];
  const worker: { onmessage?: (event: string) => void } & Record<string, unknown> = {
    load: (address: string) => (imported.push(address), module),
    setTimeout: (task: () => void) => {
      try {
        task();
      } catch (error) {
        thrown.push(error);
      }
    },
  };
  runInNewContext(script.replace("import(", "load("), worker);
  return { worker, imported, thrown };
}

it("on a page without an origin, the script's address is a data URL", async () => {
  vi.stubGlobal("self", { origin: "null" });
  const address = (await load()).asOwnScript("http://cdn/x.js");
  expect(address).toMatch(/^data:text\/javascript,/);
  expect(decodeURIComponent(address)).toContain('import("http://cdn/x.js")');
});

it("the local script imports the one of another origin, which receives messages sent meanwhile", async () => {
  vi.stubGlobal("self", { origin: "http://page" });
  const blob = resolveObjectURL((await load()).asOwnScript('http://cdn/"x".js'));
  expect(blob?.type).toBe("text/javascript");
  let resolve = () => {};
  const promise = new Promise<void>((resolved) => (resolve = resolved));
  const { worker, imported, thrown } = run((await blob?.text()) ?? "", promise);
  worker.onmessage?.("first");
  worker.onmessage?.("second");
  const heard: string[] = [];
  worker.onmessage = (event) => void heard.push(event); // as the module does
  resolve();
  await promise;
  await Promise.resolve();
  expect(imported).toEqual(['http://cdn/"x".js']);
  expect(heard).toEqual(["first", "second"]);
  expect(thrown).toEqual([]);
});

it("the local script throws the known reason if the other cannot be loaded", async () => {
  vi.stubGlobal("self", { origin: "http://page" });
  const { asOwnScript, notImported } = await load();
  const blob = resolveObjectURL(asOwnScript("http://cdn/x.js"));
  const failed = Promise.reject(new TypeError("Failed to fetch"));
  const { thrown } = run((await blob?.text()) ?? "", failed);
  await failed.catch(() => {});
  await Promise.resolve();
  expect(thrown).toEqual([notImported]);
});
