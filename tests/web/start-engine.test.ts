import { afterEach, describe, expect, it, vi } from "vitest";
import { LoadError } from "../../web/src/shared/errors.js";
import type { Variant } from "../../web/src/shared/types.js";
import type { EngineFactory } from "../../web/src/worker/engine.js";
import {
  fetchBuild,
  makeMemory,
  startEngine,
  type Build,
  type BuildSource,
} from "../../web/src/worker/start-engine.js";

const { signal } = new AbortController();
const code = new WebAssembly.Module(Uint8Array.of(0, 0x61, 0x73, 0x6d, 1, 0, 0, 0));

afterEach(() => vi.unstubAllGlobals());

function buildSource(parts: Partial<BuildSource> = {}): BuildSource & { asked: string[] } {
  const asked: string[] = [];
  return {
    asked,
    open: async (name) => {
      asked.push(`open ${name}`);
      return { size: 1, stream: new Blob(["x"]).stream() };
    },
    importModule: async (name) => {
      asked.push(`import ${name}`);
      return { default: "factory" };
    },
    compile: async (name) => {
      asked.push(`compile ${name}`);
      return code;
    },
    ...parts,
  };
}

describe("fetchBuild", () => {
  it("takes the script and the code of the build", async () => {
    const source = buildSource();
    expect(await fetchBuild(source, "simd", signal)).toEqual({
      variant: "simd",
      createModule: "factory",
      code,
    });
    expect(source.asked).toEqual(["import engine/gpt2-simd.mjs", "compile engine/gpt2-simd.wasm"]);
  });

  const cannotImport = {
    importModule: async () => Promise.reject(new TypeError("Failed to fetch dynamically imported module")),
  };

  it("gives the host's answer where a script cannot be had", async () => {
    const open = async () => Promise.reject(new LoadError("not-found", "the host answered 404"));
    await expect(fetchBuild(buildSource({ ...cannotImport, open }), "simd", signal)).rejects.toMatchObject({
      code: "not-found",
      message: "the host answered 404",
    });
  });

  it("says so where the script is there, but does not run", async () => {
    const source = buildSource(cannotImport);
    await expect(fetchBuild(source, "threads", signal)).rejects.toMatchObject({
      code: "unsupported",
      message: expect.stringMatching(
        /^engine\/gpt2-threads.mjs is there, but cannot be run: .*Failed to fetch/,
      ),
    });
    expect(source.asked).toContain("open engine/gpt2-threads.mjs");
  });

  it("gives the error of the code", async () => {
    const compile = async () => Promise.reject(new LoadError("network", "broke"));
    await expect(fetchBuild(buildSource({ compile }), "simd", signal)).rejects.toMatchObject({
      code: "network",
    });
  });
});

describe("makeMemory", () => {
  /** A browser that grants at most so many pages. */
  function grant(most: number, asked: WebAssembly.MemoryDescriptor[], error: Error = new RangeError("no")) {
    class Memory {
      constructor(descriptor: WebAssembly.MemoryDescriptor) {
        asked.push(descriptor);
        if ((descriptor.maximum ?? 0) > most) throw error;
      }
    }
    vi.stubGlobal("WebAssembly", { Memory });
  }

  it("is as planned where the browser grants it", () => {
    const asked: WebAssembly.MemoryDescriptor[] = [];
    grant(1e9, asked);
    makeMemory({ initial: 100, maximum: 500 }, true);
    makeMemory({ initial: 100, maximum: 500 }, false);
    expect(asked).toEqual([
      { initial: 100, maximum: 500, shared: true },
      { initial: 100, maximum: 500, shared: false },
    ]);
  });

  it("has less room to grow where it does not, and none at worst", () => {
    const asked: WebAssembly.MemoryDescriptor[] = [];
    grant(100, asked);
    makeMemory({ initial: 100, maximum: 501 }, true);
    expect(asked.map(({ maximum }) => maximum)).toEqual([501, 300, 200, 100]);
  });

  it("is an error that says how much was needed", () => {
    grant(99, []);
    expect(() => makeMemory({ initial: 100, maximum: 500 }, true)).toThrow(
      expect.objectContaining({
        code: "out-of-memory",
        message: "this browser does not give the 7 MB that the model needs",
      }),
    );
  });

  it("is not tried again where something else is wrong", () => {
    const asked: WebAssembly.MemoryDescriptor[] = [];
    grant(1, asked, new TypeError("shared memory"));
    expect(() => makeMemory({ initial: 100, maximum: 500 }, true)).toThrow(
      expect.objectContaining({ code: "worker-died" }),
    );
    expect(asked.length).toBe(1);
  });
});

describe("startEngine", () => {
  function build(variant: Variant, isExact: boolean, log: string[]): Build {
    const createModule = (async ({ wasmMemory }) => {
      log.push(`${variant} ${wasmMemory.buffer instanceof SharedArrayBuffer ? "shared" : "own"}`);
      return {
        _gpt2_create: (threads: number) => (log.push(`threads ${threads}`), 1),
        _gpt2_is_exact: () => Number(isExact),
        _gpt2_destroy: () => void log.push(`destroy ${variant}`),
      } as unknown;
    }) as EngineFactory;
    return { variant, createModule, code };
  }
  const plan = { initial: 1, maximum: 2 };
  const nothing = async () => Promise.reject(new Error("fetched another"));

  it("starts the build that was asked for", async () => {
    const log: string[] = [];
    const started = await startEngine(build("threads-relaxed", true, log), plan, 4, nothing);
    expect(started).toMatchObject({ variant: "threads-relaxed", notice: null });
    expect(log).toEqual(["threads-relaxed shared", "threads 4"]);
  });

  it.each([
    ["threads-relaxed", "threads"],
    ["simd-relaxed", "simd"],
  ] as const)("takes, for %s that computes wrong, the build without relaxed SIMD", async (variant, plain) => {
    const log: string[] = [];
    const fetchOther = async (other: Variant) => build(other, true, log);
    const started = await startEngine(build(variant, false, log), plan, 4, fetchOther);
    expect(started.variant).toBe(plain);
    expect(started.notice).toContain("without relaxed SIMD");
    const memory = variant.startsWith("threads") ? "shared" : "own";
    expect(log).toEqual([
      `${variant} ${memory}`,
      "threads 4",
      `destroy ${variant}`,
      `${plain} ${memory}`,
      "threads 4",
    ]);
  });

  it("gives up where every build computes wrong", async () => {
    const log: string[] = [];
    const fetchOther = async (other: Variant) => build(other, false, log);
    await expect(startEngine(build("simd-relaxed", false, log), plan, 4, fetchOther)).rejects.toMatchObject({
      code: "unsupported",
      message: "this browser computes wrong results with WebAssembly SIMD",
    });
    expect(log.at(-1)).toBe("destroy simd");
  });
});
