import { resolveObjectURL } from "node:buffer";
import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterEach, describe, expect, it, vi } from "vitest";
import { hashedCode, hashedScript } from "../../web/scripts/hash-files.mjs";
import type { Variant } from "../../web/src/shared/types.js";
import type { BuildAddresses } from "../../web/src/worker/addresses.js";
import { UrlBuilds } from "../../web/src/worker/url-builds.js";

const { signal } = new AbortController();
const patience = { stallMs: 10_000, onRetry: () => {} };
const empty = Uint8Array.from(hashedCode(Uint8Array.of(0, 0x61, 0x73, 0x6d, 1, 0, 0, 0)));
const wasm = { headers: { "content-type": "application/wasm" } };
const script = { headers: { "content-type": "text/javascript" } };

afterEach(() => vi.unstubAllGlobals());

/** All builds at the same two addresses below `folder`. */
function addressesIn(folder: string): Record<Variant, BuildAddresses> {
  const one = { script: () => new URL("x.mjs", folder), code: () => new URL("x.wasm", folder) };
  return { "threads-relaxed": one, threads: one, "simd-relaxed": one, simd: one };
}

function builds(
  response: () => Response,
  folder = "http://host/engine/",
): { source: UrlBuilds; asked: string[] } {
  const asked: string[] = [];
  const source = new UrlBuilds(addressesIn(folder), false, async (url) => {
    asked.push(url instanceof Request ? url.url : String(url));
    return response();
  });
  return { source, asked };
}

describe("UrlBuilds", () => {
  it("UrlBuilds waits for slow code, and reports how long none arrived", async () => {
    vi.useFakeTimers();
    const retries: (string | null)[] = [];
    const slow = { stallMs: 1000, onRetry: (reason: string | null) => void retries.push(reason) };
    const trickle = (count: number) =>
      new ReadableStream<Uint8Array<ArrayBuffer>>({
        async pull(controller) {
          await new Promise((resolve) => setTimeout(resolve, count > 0 ? 800 : 1e6));
          controller.enqueue(empty.slice(empty.length - count, empty.length - count + 10));
          if ((count -= 10) <= 0) controller.close();
        },
      });
    try {
      const whole = builds(() => new Response(trickle(empty.length)));
      const compiling = whole.source.compile("simd", signal, slow);
      await vi.advanceTimersByTimeAsync(800 * Math.ceil(empty.length / 10));
      expect(await compiling).toBeInstanceOf(WebAssembly.Module);
      expect([whole.asked.length, retries]).toEqual([1, []]);
      const silent = builds(() => new Response(new ReadableStream({ pull: () => new Promise(() => {}) })));
      const failing = silent.source.compile("simd", signal, slow);
      failing.catch(() => {});
      await vi.advanceTimersByTimeAsync(60_000);
      await expect(failing).rejects.toMatchObject({
        code: "network",
        message: expect.stringMatching(/no data for 1 s$/),
      });
      expect(new Set(retries)).toEqual(new Set(["no data for 1 s"]));
    } finally {
      vi.useRealTimers();
    }
  });

  it("UrlBuilds compiles code of any type, and requests that of this release", async () => {
    for (const type of [wasm, {}]) {
      const { source, asked } = builds(() => new Response(empty, type));
      expect(await source.compile("simd", signal, patience)).toBeInstanceOf(WebAssembly.Module);
      expect(asked).toEqual(["http://host/engine/x.wasm?release=unbuilt"]);
    }
  });

  it("UrlBuilds compiles while streaming if the host sends the right type", async () => {
    const streaming = vi.spyOn(WebAssembly, "compileStreaming");
    await builds(() => new Response(empty)).source.compile("simd", signal, patience);
    expect(streaming).not.toHaveBeenCalled();
    await builds(() => new Response(empty, wasm)).source.compile("simd", signal, patience);
    expect(streaming).toHaveBeenCalledTimes(1);
    streaming.mockRestore();
  });

  it("UrlBuilds reports that the browser cannot compile the code", async () => {
    for (const type of [wasm, {}]) {
      const code = Uint8Array.from(hashedCode(Uint8Array.of(1, 2, 3, 4)));
      const { source } = builds(() => new Response(code, type));
      await expect(source.compile("simd", signal, patience)).rejects.toMatchObject({ code: "unsupported" });
    }
  });

  /** Pauses between attempts take no time. */
  const withoutPauses = () =>
    vi.stubGlobal("setTimeout", (task: () => void, ms = 0) => ms < 10_000 && queueMicrotask(task));

  it.each([wasm, {}])("UrlBuilds fetches damaged code once more, past every cache", async (type) => {
    withoutPauses();
    const flipped = empty.slice();
    flipped[empty.length - 70] = (flipped[empty.length - 70] ?? 0) ^ 4; // in a custom section, so it still compiles
    expect(WebAssembly.validate(flipped)).toBe(true);
    for (const damaged of [
      flipped,
      empty.subarray(0, 8),
      new Uint8Array(),
      new TextEncoder().encode("<p>"),
    ]) {
      const asked: (RequestCache | undefined)[] = [];
      let isHealed = true;
      const source = new UrlBuilds(addressesIn("http://host/"), false, async (_, init) => {
        asked.push(init?.cache);
        return new Response(isHealed && asked.length > 1 ? empty : damaged, type);
      });
      expect(await source.compile("simd", signal, patience)).toBeInstanceOf(WebAssembly.Module);
      expect(asked).toEqual([undefined, "reload"]);
      isHealed = false;
      await expect(source.compile("simd", signal, patience)).rejects.toMatchObject({
        code: "corrupt",
        message: expect.stringContaining("http://host/x.wasm"),
      });
    }
  });

  it("UrlBuilds reports a broken connection, except for an abort", async () => {
    withoutPauses();
    const broken = () => new Response(new ReadableStream({ pull: (to) => to.error(new TypeError("reset")) }));
    await expect(builds(broken).source.compile("simd", signal, patience)).rejects.toMatchObject({
      code: "network",
      message: expect.stringMatching(/^the connection broke while reading .*reset/),
    });
    const aborted = AbortSignal.abort(new Error("enough"));
    await expect(builds(broken).source.compile("simd", aborted, patience)).rejects.toThrow("enough");
  });

  describe("with scripts", () => {
    const folder = mkdtempSync(join(tmpdir(), "gpt2-builds-"));
    writeFileSync(join(folder, "x.mjs"), "export default 42;");
    const here = pathToFileURL(`${folder}/`).href;
    const elsewhere = pathToFileURL(`${folder}/nowhere/`).href;
    const page = (origin: string) => vi.stubGlobal("self", { origin, location: { href: "http://page/" } });

    it("a build with scripts is imported, and starts threads from its address", async () => {
      page("null"); // the origin of files
      const { source } = builds(() => new Response(), here);
      const address = pathToFileURL(join(folder, "x.mjs")).href;
      expect(await source.importScript("simd", signal, patience)).toEqual({
        createModule: 42,
        threadScript: address,
      });
    });

    it("a build at another origin starts its threads from a blob", async () => {
      for (const [origin, isInBlob] of [
        ["http://page", false],
        ["file://", true],
      ] as const) {
        page(origin);
        const source = new UrlBuilds(addressesIn(here), isInBlob);
        const { threadScript } = await source.importScript("threads", signal, patience);
        expect(threadScript).toMatch(/^blob:/);
        const blob = resolveObjectURL(threadScript);
        expect(await blob?.text()).toContain(`import("${here}x.mjs")`);
        expect(blob?.type).toBe("text/javascript");
      }
    });

    it("threads start from a blob if a bundler has inlined the script into the worker", async () => {
      page("http://page");
      const script = () => new URL("data:text/javascript,export default 42");
      const one = { script, code: script };
      const addresses = { "threads-relaxed": one, threads: one, "simd-relaxed": one, simd: one };
      const source = new UrlBuilds(addresses, false, async () => new Response());
      const { threadScript } = await source.importScript("threads", signal, patience);
      expect(threadScript).toMatch(/^blob:/);
    });

    it("a script that was unreachable is imported again", async () => {
      page("null");
      const late = join(folder, "late");
      mkdirSync(late);
      const { source, asked } = builds(
        () => {
          if (asked.length === 2) writeFileSync(join(late, "x.mjs"), "export default 43;");
          return new Response("", script);
        },
        pathToFileURL(`${late}/`).href,
      );
      expect(await source.importScript("simd", signal, patience)).toMatchObject({ createModule: 43 });
      expect(asked).toHaveLength(2);
    });

    it("a script that states its hash is checked", async () => {
      page("null");
      for (const text of [hashedScript("export default 42;"), "export default 42;"]) {
        const { source, asked } = builds(() => new Response(text, script), here);
        expect(await source.importScript("simd", signal, patience)).toMatchObject({ createModule: 42 });
        expect(asked).toHaveLength(1);
      }
      const { source, asked } = builds(
        () => new Response(hashedScript("export default 42;").replace("2", "3"), script),
        here,
      );
      await expect(source.importScript("simd", signal, patience)).rejects.toMatchObject({
        code: "corrupt",
        message: expect.stringMatching(/x\.mjs has SHA-256 [0-9a-f]{64}, expected [0-9a-f]{64}$/),
      });
      expect(asked).toHaveLength(2);
    });

    it("the error for a missing script has the host's answer", async () => {
      const { source } = builds(() => new Response("", { status: 404 }), elsewhere);
      await expect(source.importScript("simd", signal, patience)).rejects.toMatchObject({
        code: "not-found",
      });
    });

    it("the error for a script of a wrong type names the type", async () => {
      const typed = { headers: { "content-type": "application/octet-stream" } };
      for (const [type, words] of [
        [typed, 'as "application/octet-stream"'],
        [{}, "without a type"],
      ] as const) {
        const { source } = builds(() => new Response(empty, type), elsewhere);
        await expect(source.importScript("simd", signal, patience)).rejects.toMatchObject({
          code: "network",
          message: expect.stringContaining(`x.mjs ${words}, expected "text/javascript"`),
        });
      }
    });

    it("a script that loads but does not run is reported", async () => {
      const { source } = builds(() => new Response("oh", script), elsewhere);
      await expect(source.importScript("simd", signal, patience)).rejects.toMatchObject({
        code: "unsupported",
        message: expect.stringMatching(/x\.mjs was loaded, but cannot be run: /),
      });
    });
  });
});
