import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, it, vi } from "vitest";
import { UrlBuilds } from "../../web/src/worker/url-builds.js";

const { signal } = new AbortController();
const empty = Uint8Array.of(0, 0x61, 0x73, 0x6d, 1, 0, 0, 0);
const wasm = { headers: { "content-type": "application/wasm" } };

function builds(response: () => Response): { source: UrlBuilds; asked: string[] } {
  const asked: string[] = [];
  const source = new UrlBuilds("http://host/some/worker.js", async (url) => {
    asked.push(String(url));
    return response();
  });
  return { source, asked };
}

describe("UrlBuilds", () => {
  it("compiles a file beside the worker's script, whatever type the host gives it", async () => {
    for (const type of [wasm, {}]) {
      const { source, asked } = builds(() => new Response(empty, type));
      expect(await source.compile("engine/x.wasm", signal)).toBeInstanceOf(WebAssembly.Module);
      expect(asked).toEqual(["http://host/some/engine/x.wasm"]);
    }
  });

  it("compiles while it streams where the host gives the type", async () => {
    const streaming = vi.spyOn(WebAssembly, "compileStreaming");
    await builds(() => new Response(empty)).source.compile("x", signal);
    expect(streaming).not.toHaveBeenCalled();
    await builds(() => new Response(empty, wasm)).source.compile("x", signal);
    expect(streaming).toHaveBeenCalledTimes(1);
    streaming.mockRestore();
  });

  it("says that the browser cannot run what does not compile", async () => {
    for (const type of [wasm, {}]) {
      const { source } = builds(() => new Response(Uint8Array.of(1, 2, 3, 4), type));
      await expect(source.compile("x", signal)).rejects.toMatchObject({ code: "unsupported" });
    }
  });

  it("gives the host's refusal", async () => {
    const { source } = builds(() => new Response("", { status: 404 }));
    await expect(source.compile("engine/x.wasm", signal)).rejects.toMatchObject({
      code: "not-found",
      message: expect.stringContaining("http://host/some/engine/x.wasm"),
    });
  });

  it("says that the connection broke, but for an abort", async () => {
    const broken = () => new Response(new ReadableStream({ pull: (to) => to.error(new TypeError("reset")) }));
    await expect(builds(broken).source.compile("x", signal)).rejects.toMatchObject({
      code: "network",
      message: expect.stringMatching(/^the connection broke while reading .*reset/),
    });
    const aborted = AbortSignal.abort(new Error("enough"));
    await expect(builds(broken).source.compile("x", aborted)).rejects.toThrow("enough");
  });

  it("imports a script beside the worker's", async () => {
    const folder = mkdtempSync(join(tmpdir(), "gpt2-builds-"));
    writeFileSync(join(folder, "x.mjs"), "export default 42;");
    const source = new UrlBuilds(pathToFileURL(join(folder, "worker.js")).href);
    expect(await source.importModule("x.mjs")).toMatchObject({ default: 42 });
    await expect(source.importModule("y.mjs")).rejects.toThrow();
  });
});
