// The end-to-end core in every browser. The build in web/dist gives the same text as the native command line, on hosts with the
// headers that threads need and without.
import { readdirSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { expect, test } from "@playwright/test";
import { demo, native as runNative, prompt, root } from "../e2e/model.js";
import { StandInHub } from "../weights_tools/stand-in-hub.js";
import { cases } from "./cases.js";
import { serve, type StaticHost } from "./static-host.js";
import { inBrowsers } from "./tab.js";

const call = { maxNewTokens: 40, seed: 7 };

function native(...more: string[]): { ids: number[]; text: string; finish_reason: string } {
  const options = ["--json", "--max-new-tokens", String(call.maxNewTokens), "--seed", String(call.seed)];
  return runNative("generate", demo, "--prompt", prompt, ...options, ...more) as ReturnType<typeof native>;
}

let isolated: StaticHost;
let plain: StaticHost;
test.beforeAll(async () => {
  const folders = { "/": resolve(root, "web/dist") };
  [isolated, plain] = await Promise.all([serve(true, folders), serve(false, folders)]);
});
test.afterAll(() => Promise.all([isolated.close(), plain.close()]));

inBrowsers(cases, (tab, { store, ...choices }) => {
  for (const where of ["isolated", "plain"] as const) {
    const { variant, threads, notice } = choices[where];

    test(`the native engine's tokens, a stop string and an abort on a host ${where === "plain" ? "without" : "with"} headers, as ${variant}`, async () => {
      const host = where === "isolated" ? isolated : plain;
      const found = await tab.repeatHangs(async () => {
        await tab.open(`${host.origin}/blank.html`);
        return tab.withModule(
          async ({ loadModel }, [text, options]) => {
            const model = await loadModel("/models/demo/", { threads: 2 });
            const whole = await model.complete(text, options);
            const stopped = await model.complete(text, { ...options, stop: "She" });
            const controller = new AbortController();
            const endless = { maxNewTokens: 4000, ignoreEos: true, signal: controller.signal };
            let tokens = 0;
            let reason = "none";
            try {
              for await (const _ of model.generate(text, endless))
                if (++tokens === 3) controller.abort(new Error("enough"));
            } catch (error) {
              reason = String(error);
            }
            const next = await model.complete(text, options);
            const { info } = model;
            await model.dispose();
            return {
              info,
              ids: [whole, next].map((each) => each.tokens.map((token) => token.id)),
              finishReason: whole.finishReason,
              stopped: { text: stopped.text, finish_reason: stopped.finishReason },
              aborted: { tokens, reason },
            };
          },
          [prompt, call] as const,
        );
      });
      expect(found.info.variant).toBe(variant);
      expect(found.info.threads).toBe(threads);
      if (notice) expect(found.info.notice).toMatch(notice);
      else expect(found.info.notice).toBeNull();
      const expected = native();
      expect(found.ids).toEqual([expected.ids, expected.ids]);
      expect(found.finishReason).toBe(expected.finish_reason);
      const { text, finish_reason } = native("--stop", "She");
      expect(found.stopped).toEqual({ text, finish_reason });
      expect(finish_reason).toBe("stop");
      expect(found.aborted).toEqual({ tokens: 3, reason: "Error: enough" });
    });
  }

  test("a stored model loads without its host, is listed, and is removed", async () => {
    const models = await serve(true, { "/models/": resolve(root, "web/models") }, { open: true });
    const address = `${models.origin}/models/demo/`;
    let isOpen = true;
    const visit = (cache: boolean) =>
      tab.withModule(
        async ({ loadModel }, [url, text, options, isCached]) => {
          let source = "nowhere";
          const onProgress = (progress: { loadedBytes: number; source: string }) => {
            if (progress.loadedBytes > 0) source = progress.source;
          };
          try {
            const model = await loadModel(url, { variant: "simd", cache: isCached, onProgress });
            const { tokens } = await model.complete(text, options);
            await model.dispose();
            return { source, ids: tokens.map(({ id }) => id), notStored: model.info.notStored };
          } catch (error) {
            return (error as { code: string }).code;
          }
        },
        [address, prompt, call, cache] as const,
      );
    try {
      await tab.open(`${isolated.origin}/blank.html`);
      // Under WebDriver, WebKitGTK keeps caches in memory, and only those that a page uses.
      await tab.run(
        async () => void Object.assign(globalThis, { held: await caches.open("gpt2-wasm-store") }),
      );
      // Other tests stored the same files from another address, and models share equal files.
      await tab.withModule(({ removeModel }) => removeModel("/models/demo/"));
      const { ids } = native();
      expect(await visit(true)).toEqual({ source: "network", ids, notStored: null });
      await models.close();
      isOpen = false;
      expect(await visit(true)).toEqual({ source: "cache", ids, notStored: null });
      expect(await visit(false)).toBe("network");
      const left = await tab.withModule(async ({ listModels, removeModel, storage }, url) => {
        const isListed = async () => (await listModels()).some(({ id }) => id === url);
        const before = await isListed();
        await removeModel(url);
        return { kind: (await storage()).kind, listed: [before, await isListed()] };
      }, address);
      expect(left).toEqual({ kind: store, listed: [true, false] });
    } finally {
      if (isOpen) await models.close();
    }
  });

  test("a broken load from the Hub continues without a preflight; files and a custom fetch load, too", async () => {
    const hub = new StandInHub();
    const names = readdirSync(demo);
    for (const name of names) hub.files[name] = readFileSync(resolve(demo, name));
    const weights = hub.files["model.safetensors.001"] ?? Buffer.alloc(0);
    let breaks = 0;
    hub.fault = (name, response) => {
      if (name !== "model.safetensors.001" || response.req.headers.range || breaks === 3) return false;
      breaks += 1; // a busy browser that read nothing yet asks for the whole file again
      response.writeHead(200, { "Content-Length": weights.length });
      response.write(weights.subarray(0, 1_000_000), () => setTimeout(() => response.destroy(), 1500));
      return true;
    };
    const origin = await hub.start();
    try {
      await tab.open(`${isolated.origin}/blank.html`);
      const found = await tab.withModule(
        async ({ loadModel }, [address, files, text, options]) => {
          const write = async (source: string | File[], more: object) => {
            const model = await loadModel(source, { variant: "simd", cache: false, ...more });
            let streamed = "";
            const reader = model.stream(text, options).getReader();
            for (let part = await reader.read(); !part.done; part = await reader.read())
              streamed += part.value;
            await model.dispose();
            return streamed;
          };
          const fileOf = async (name: string) =>
            new File([await (await fetch(`/models/demo/${name}`)).blob()], name);
          const ownFetch = (url: string, init: RequestInit) =>
            fetch(url.replace("nowhere", "models/demo"), init);
          return [
            await write("user/tale", { hub: address }),
            await write(await Promise.all(files.map(fileOf)), {}),
            await write("/nowhere/", { fetch: ownFetch }),
          ];
        },
        [origin, names, prompt, call] as const,
      );
      expect(found).toEqual(Array(3).fill(native().text));
      expect(hub.asked.some(({ host, range }) => host === "store" && range !== undefined)).toBe(true);
      expect(hub.preflights).toBe(0);
    } finally {
      hub.stop();
    }
  });
});
