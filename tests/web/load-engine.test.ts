// Loading a model in the worker, with an engine that only records calls.
import { createHash } from "node:crypto";
import { afterEach, describe, expect, it, vi } from "vitest";
import type { ModelSource } from "../../web/src/loader/model-source.js";
import { Gpt2Error, LoadError } from "../../web/src/shared/errors.js";
import type { LoadRequest } from "../../web/src/shared/protocol.js";
import type { LoadProgress, Variant } from "../../web/src/shared/types.js";
import type { ModuleFactory, ThreadStart } from "../../web/src/shared/wasm-instance.js";
import { loadEngine, type LoadSurroundings } from "../../web/src/worker/load.js";
import type { Features } from "../../web/src/worker/variants.js";

afterEach(() => vi.unstubAllGlobals());

const code = new WebAssembly.Module(Uint8Array.of(0, 0x61, 0x73, 0x6d, 1, 0, 0, 0));
const sha256 = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex");
const everything: Features = {
  webAssembly: true,
  simd: true,
  relaxedSimd: true,
  threads: true,
  isIsolated: true,
  isSecure: true,
};

const firstThread = { helper: 1 } as ThreadStart;

/** The calls of the engine, and its answers. */
class Books {
  readonly calls: string[] = [];
  readonly weights: number[] = [];
  readonly threads: unknown[] = [];
  texts: string[] = [];
  startedThreads = 4;
  /** Layers that the bytes so far complete: one for each two bytes. */
  layersRun = 0;
  isExact = true;
  refusal: Gpt2Error | undefined;
  private memory: WebAssembly.Memory | undefined;
  private top = 65536;

  readonly factory: ModuleFactory = async ({ wasmMemory, startThread }) => {
    this.memory = wasmMemory;
    startThread?.(firstThread);
    const names = new Map<string, (...args: number[]) => number>([
      ["_gpt2_create", (threads = 0) => (this.calls.push(`create ${threads}`), 1)],
      ["_gpt2_is_exact", () => Number(this.isExact)],
      ["_gpt2_allocate", (size = 0) => (this.top += size) - size],
      ["_gpt2_started_threads", () => this.startedThreads],
      [
        "_gpt2_load_begin",
        (_, ...pairs) => {
          for (let i = 0; i < pairs.length; i += 2) {
            this.texts.push(new TextDecoder().decode(this.view(pairs[i], pairs[i + 1])));
          }
          return 0;
        },
      ],
      [
        "_gpt2_load_weights",
        (_, pointer, size) => {
          this.weights.push(...this.view(pointer, size));
          return this.refusal
            ? this.reply(undefined, { code: this.refusal.code, message: this.refusal.message })
            : 0;
        },
      ],
      ["_gpt2_load_prompt", (_, pointer, size) => this.takePrompt(this.view(pointer, size))],
      ["_gpt2_load_step", () => this.runLayer()],
      ["_gpt2_output", () => 128],
      [
        "_gpt2_load_end",
        () => (
          this.calls.push("load_end"),
          this.reply({ threads: this.startedThreads, kernels: "relaxed", kv: "q8" })
        ),
      ],
      ["_gpt2_drop_unstarted_threads", () => (this.calls.push("drop"), 0)],
      ["_gpt2_destroy", () => (this.calls.push("destroy"), 0)],
    ]);
    return new Proxy(
      {},
      {
        get: (_, name: string) => (name === "then" ? undefined : (names.get(name) ?? (() => 0))),
      },
    );
  };

  private takePrompt(bytes: Uint8Array): number {
    this.calls.push(`prompt ${new TextDecoder().decode(bytes)}`);
    return 0;
  }
  private runLayer(): number {
    const ready = this.weights.length >> 1;
    if (this.layersRun < ready) this.calls.push(`layer ${++this.layersRun}`);
    const words = [0, 0, 0, 0, this.layersRun, 5, Number(this.layersRun === ready)];
    new Uint32Array(this.memory?.buffer ?? new ArrayBuffer(0), 128, words.length).set(words);
    return 0;
  }
  private view(pointer = 0, size = 0): Uint8Array {
    // A copy, if the memory is shared.
    return Uint8Array.from(new Uint8Array(this.memory?.buffer ?? new ArrayBuffer(0), pointer, size));
  }
  private reply(result: unknown, error?: object): number {
    const bytes = new TextEncoder().encode(`${JSON.stringify(error ? { error } : { result })}\0`);
    new Uint8Array(this.memory?.buffer ?? new ArrayBuffer(0), 64, bytes.length).set(bytes);
    return 64;
  }
}

const weights = Uint8Array.from({ length: 10 }, (_, i) => i);
const piece = (bytes: Uint8Array, path: string) => ({ path, size: bytes.length, sha256: sha256(bytes) });
const config = JSON.stringify({ n_embd: 4, n_layer: 1, n_positions: 8, vocab_size: 16 });
const indexed: Record<string, Uint8Array | string> = {
  "config.json": config,
  "vocab.json": "{}",
  "merges.txt": "m",
  "weights.json": JSON.stringify({
    size: 10,
    pieces: [piece(weights.subarray(0, 6), "w.000"), piece(weights.subarray(6), "w.001")],
  }),
  "w.000": weights.subarray(0, 6),
  "w.001": weights.subarray(6),
};
const hub = { "config.json": config, "model.safetensors": weights };

function folder(files: Record<string, Uint8Array | string>, sizes = true, made?: number): ModelSource {
  return {
    async open(name) {
      const file = files[name];
      if (file === undefined) throw new LoadError("not-found", `no ${name}`);
      const bytes = typeof file === "string" ? new TextEncoder().encode(file) : Uint8Array.from(file);
      return {
        size: sizes ? bytes.length : undefined,
        stream: new Blob([bytes]).stream(),
        ...(made !== undefined && { made: { readBytes: made, totalBytes: made } }),
      };
    },
  };
}

interface Setting {
  files?: Record<string, Uint8Array | string>;
  sizes?: boolean;
  /** The converted files, and the number of bytes that they are made from. */
  converted?: Record<string, Uint8Array | string>;
  made?: number;
  books?: Books;
  features?: Partial<Features>;
  request?: Partial<LoadRequest>;
  failed?: number;
  /** Compiling a build waits for this promise. */
  compiled?: Promise<void>;
  /** Builds that the browser does not compile. */
  refused?: Variant[];
  signal?: AbortSignal;
  onEngine?: LoadSurroundings["onEngine"];
  onLayer?: () => void;
  /** Called when weights.json is requested past all caches. */
  onReload?: () => void;
  another?: NonNullable<ModelSource["another"]>;
  notStored?: NonNullable<ModelSource["notStored"]>;
  onOpen?: (onRetry: (reason: string | null) => void) => void;
}

function load(setting: Setting = {}) {
  const books = setting.books ?? new Books();
  const progress: LoadProgress[] = [];
  const fetched: string[] = [];
  const opened: LoadRequest[] = [];
  const request: LoadRequest = {
    source: { kind: "folder", url: "http://host/m/" },
    threads: undefined,
    threadChoices: {},
    variant: undefined,
    kv: undefined,
    prompt: "",
    weights: undefined,
    stallMs: undefined,
    headers: [],
    credentials: undefined,
    redirect: undefined,
    cache: false,
    fetchPort: undefined,
    ...setting.request,
  };
  const loaded = loadEngine(request, {
    signal: setting.signal ?? new AbortController().signal,
    tell: (event) => {
      progress.push(event);
      if (event.layer) setting.onLayer?.();
    },
    openSource: async (wanted, { onRetry }) => {
      opened.push(wanted);
      setting.onOpen?.(onRetry);
      const files = wanted.weights ? setting.converted : setting.files;
      const made = folder(files ?? setting.files ?? indexed, setting.sizes, setting.made);
      const open: ModelSource["open"] = (name, options) => {
        if (name === "weights.json" && options.reload) setting.onReload?.();
        return made.open(name, options);
      };
      const of = wanted.weights ? { ...made, open, weights: wanted.weights } : { ...made, open };
      const { another, notStored } = setting;
      return {
        ...of,
        keepsConverted: wanted.cache,
        ...(another && { another }),
        ...(notStored && { notStored }),
      };
    },
    builds: {
      importScript: async (variant) => (
        fetched.push(variant),
        { createModule: books.factory, threadScript: `${variant}.js` }
      ),
      compile: async (variant) => {
        await setting.compiled;
        if (setting.refused?.includes(variant)) throw new LoadError("unsupported", `no ${variant}`);
        return code;
      },
    },
    startThread: (script, start) => void books.threads.push([script, start]),
    features: async () => ({ ...everything, ...setting.features }),
    cores: 4,
    failedThreads: () => setting.failed ?? 0,
    onEngine: setting.onEngine ?? (() => {}),
  });
  return { books, progress, fetched, opened, request, loaded };
}

describe("loadEngine", () => {
  it("loadEngine streams a folder with an index", async () => {
    const { books, progress, fetched, loaded } = load();
    const { info, measure, engine } = await loaded;
    expect(fetched).toEqual(["threads-relaxed"]);
    expect(books.threads).toEqual([["threads-relaxed.js", firstThread]]);
    expect(books.texts).toEqual([config, "{}", "m", "{}"]);
    expect(books.weights).toEqual([...weights]);
    expect(books.calls).toEqual(["create 4", "drop", "load_end"]);
    expect(info).toEqual({
      source: null,
      threads: 4,
      kv: "q8",
      simd: "relaxed",
      variant: "threads-relaxed",
      memoryBytes: engine.memoryBytes,
      notStored: null,
      notice: null,
      warnings: [],
    });
    expect(measure).toEqual({ measureAs: expect.stringContaining("4 cores") });
    expect(progress[0]).toMatchObject({ stage: "engine", loadedBytes: 0, totalBytes: 0 });
    expect(progress[1]).toMatchObject({ stage: "download", loadedBytes: 0, totalBytes: 10 });
    expect(progress.at(-2)).toMatchObject({ stage: "check", loadedBytes: 10, totalBytes: 10 });
    expect(progress.at(-1)).toMatchObject({ stage: "ready", loadedBytes: 10, totalBytes: 10 });
  });

  it("loadEngine can be aborted while the model is still being stored", async () => {
    const controller = new AbortController();
    const notStored = () => {
      controller.abort(new Error("enough"));
      return new Promise<null>(() => {});
    };
    await expect(load({ signal: controller.signal, notStored }).loaded).rejects.toThrow("enough");
  });

  it("loadEngine runs a prompt through each layer that has arrived, and is ready after the last one", async () => {
    const { books, progress, loaded } = load({ request: { prompt: "Once" } });
    await loaded;
    const layers = [1, 2, 3, 4, 5].map((layer) => `layer ${layer}`);
    expect(books.calls).toEqual(["create 4", "prompt Once", ...layers, "drop", "load_end"]);
    const told = progress.filter(({ layer }) => layer).map(({ layer }) => layer);
    expect(told.at(0)).toEqual({ done: 1, total: 5 });
    expect(told.at(-1)).toEqual({ done: 5, total: 5 });
  });

  it("loadEngine runs no further once it is aborted", async () => {
    const controller = new AbortController();
    const books = new Books();
    const { loaded, progress } = load({
      books,
      request: { prompt: "Once" },
      signal: controller.signal,
      onLayer: () => controller.abort(),
    });
    await expect(loaded).rejects.toMatchObject({ name: "AbortError" });
    expect(books.layersRun).toBe(1);
    expect(progress.at(-1)?.layer).toEqual({ done: 1, total: 5 });
    expect(books.calls).not.toContain("load_end");
  });

  it("loadEngine streams the single file of a Hub model, whether or not the host states its size", async () => {
    const { books, progress, loaded } = load({ files: hub });
    await loaded;
    expect(books.weights).toEqual([...weights]);
    expect(books.texts).toEqual([config, "", "", "{}"]);
    expect(progress.at(-1)).toMatchObject({ stage: "ready", loadedBytes: 10, totalBytes: 10 });
    const unknown = load({ files: hub, sizes: false });
    await unknown.loaded;
    expect(unknown.books.weights).toEqual([...weights]);
    expect(unknown.progress.at(-1)?.totalBytes).toBe(0);
  });

  describe("a folder of float weights", () => {
    const converted = { ...hub, "model.safetensors": weights.subarray(0, 6) };

    it("a folder of floats is converted during the load if it will be stored, and the progress counts the received bytes", async () => {
      const { books, progress, opened, request, loaded } = load({
        files: hub,
        converted,
        made: 40,
        request: { cache: true },
      });
      await loaded;
      expect(opened).toEqual([request, { ...request, weights: "q8" }]);
      expect(books.weights).toEqual([...weights.subarray(0, 6)]);
      expect(progress.at(-1)).toMatchObject({ stage: "ready", loadedBytes: 40, totalBytes: 40 });
    });

    it("a folder of floats is quantized by the engine if nothing can be stored", async () => {
      const { books, opened, loaded } = load({ files: hub, converted });
      await loaded;
      expect(opened).toHaveLength(1);
      expect(books.weights).toEqual([...weights]);
    });

    it("a float model in several files is always converted", async () => {
      const { books, opened, loaded } = load({ files: { "config.json": config }, converted });
      await loaded;
      expect(opened).toHaveLength(2);
      expect(books.weights).toEqual([...weights.subarray(0, 6)]);
    });

    it("the error for a folder without weights names both files", async () => {
      for (const cache of [true, false]) {
        const { loaded } = load({ files: { "config.json": config }, request: { cache } });
        await expect(loaded).rejects.toMatchObject({
          code: "not-found",
          message: "there is no weights.json; without it, no model.safetensors",
        });
      }
    });
  });

  describe("a failed load whose source has an alternative", () => {
    const broken = { ...indexed, "w.000": "no weights" };

    it("after a failed load of the host's newer version, the stored version is loaded", async () => {
      const { books, opened, loaded } = load({ files: broken, another: () => folder(indexed) });
      await loaded;
      expect(opened).toHaveLength(1);
      expect(books.weights.slice(-weights.length)).toEqual([...weights]);
    });

    it("a failed load starts again if the stored copy was damaged and has been removed", async () => {
      const files: Record<string, Uint8Array | string> = { ...broken };
      const another = () => {
        Object.assign(files, indexed);
        return "again" as const;
      };
      const { books, opened, loaded } = load({ files, another });
      await loaded;
      expect(opened).toHaveLength(2);
      expect(books.weights.slice(-weights.length)).toEqual([...weights]);
    });

    it("a failed load fails if its alternative fails, too", async () => {
      const { loaded } = load({ files: broken, another: () => folder(broken) });
      await expect(loaded).rejects.toMatchObject({ code: "corrupt" });
    });
  });

  describe("a weights.json that is damaged or changes during the load", () => {
    const index = String(indexed["weights.json"]);
    const flip = (from: string | RegExp, to: string) => {
      const changed = index.replace(from, to);
      expect(changed).not.toBe(index);
      return changed;
    };

    it.each([
      ["a hash", flip(/(?<="sha256":\s*")[0-9a-f]/, "g")],
      ["another hash", flip(/(?<="sha256":\s*")[0-9a-f]{4}/, "beef")],
      ["a name", flip("w.001", "w.0p1")],
      ["the end", index.slice(0, -1)],
    ])("a damaged or changed weights.json is read again past all caches: %s", async (_, damaged) => {
      const files: Record<string, Uint8Array | string> = { ...indexed, "weights.json": damaged };
      const { books, opened, loaded } = load({
        files,
        onReload: () => void (files["weights.json"] = index),
      });
      await loaded;
      expect(opened).toHaveLength(2);
      expect(books.weights.slice(-weights.length)).toEqual([...weights]);
    });

    it("after a damaged or changed weights.json, the engine of the first attempt is destroyed, even while it starts", async () => {
      const files: Record<string, Uint8Array | string> = {
        ...indexed,
        "weights.json": flip("w.000", "w.0p0"),
      };
      let compile = () => {};
      const compiled = new Promise<void>((resolve) => (compile = resolve));
      const onReload = () => {
        files["weights.json"] = index;
        setTimeout(compile, 20);
      };
      const engines: unknown[] = [];
      const setting = { files, compiled, onReload, onEngine: (engine: unknown) => void engines.push(engine) };
      const { books, loaded } = load(setting);
      const { engine } = await loaded;
      expect(engines.at(-1)).toBe(engine);
      const lives = books.calls.filter((call) => /^(create|destroy)/.test(call));
      expect(lives.map((call) => call.split(" ")[0])).toEqual(["create", "destroy", "create"]);
    });

    it("a damaged or changed weights.json is an error if its host has no other", async () => {
      let asked = 0;
      const damaged = flip("w.001", "w.0p1");
      const files = { ...indexed, "weights.json": damaged };
      const { opened, loaded } = load({ files, onReload: () => void (asked += 1) });
      await expect(loaded).rejects.toMatchObject({ code: "not-found", message: "no w.0p1" });
      expect([asked, opened.length]).toEqual([1, 1]);
    });
  });

  describe("the option weights for a converted model", () => {
    const made = (to: string) => ({
      ...indexed,
      "config.json": JSON.stringify({ ...JSON.parse(config), quantization_config: { weights: to } }),
    });

    it.each([
      ["q8", "q8"],
      ["f32", "f32"],
      ["f16", "f32"],
    ] as const)(
      "the option weights accepts the format of a converted model: it has %s, %s is requested",
      async (to, wanted) => {
        const { books, loaded } = load({ files: made(to), request: { weights: wanted } });
        await loaded;
        expect(books.weights).toEqual([...weights]);
      },
    );

    it.each([
      ["q8", "q4"],
      ["q4", "f32"],
      ["f16", "q8"],
    ] as const)(
      "the option weights refuses another format than a converted model has: it has %s, %s is requested",
      async (to, wanted) => {
        const { books, loaded } = load({ files: made(to), request: { weights: wanted } });
        await expect(loaded).rejects.toMatchObject({
          code: "unsupported",
          message: `weights is "${wanted}", but the model is already converted to ${to === "f16" ? "f32" : to}: leave out the option, or load the original model`,
        });
        expect(books.weights).toEqual([]);
      },
    );
  });

  it("loadEngine reports why a file is requested again, until its bytes arrive", async () => {
    const onOpen = (onRetry: (reason: string | null) => void) => {
      onRetry("the host answered 503");
      onRetry(null);
    };
    const { progress, loaded } = load({ onOpen });
    await loaded;
    const [begun] = progress;
    expect(begun).not.toHaveProperty("retry");
    expect(progress.slice(1, 3)).toEqual([{ ...begun, retry: "the host answered 503" }, begun]);
    expect(progress.at(-1)).not.toHaveProperty("retry");
  });

  it.each([
    [
      { "vocab.json": undefined },
      "not-found",
      "the model has merges.txt, but no vocab.json: its tokenizer needs both",
    ],
    [
      { "merges.txt": undefined },
      "not-found",
      "the model has vocab.json, but no merges.txt: its tokenizer needs both",
    ],
    [{ "vocab.json": "" }, "corrupt", "vocab.json is empty"],
    [{ "merges.txt": "" }, "corrupt", "merges.txt is empty"],
    [{ "weights.json": "" }, "corrupt", "weights.json is not valid JSON"],
    [
      { "weights.json": undefined },
      "not-found",
      "there is no weights.json; without it, no model.safetensors",
    ],
  ])("loadEngine refuses a folder with %j", async (changed, code, message) => {
    const files = Object.fromEntries(
      Object.entries({ ...indexed, ...changed }).filter(([, content]) => content !== undefined),
    ) as Record<string, Uint8Array | string>;
    const { books, loaded } = load({ files });
    await expect(loaded).rejects.toMatchObject({ code, message: expect.stringContaining(message) });
    expect(books.weights).toEqual([]);
  });

  it("loadEngine hashes without crypto.subtle, too", async () => {
    vi.stubGlobal("crypto", {});
    const { books, loaded } = load({ request: { variant: "simd" } });
    await loaded;
    expect(books.weights).toEqual([...weights]);
    await expect(load({ files: { ...indexed, "w.001": weights.subarray(0, 4) } }).loaded).rejects.toThrow(
      "w.001 has SHA-256",
    );
  });

  describe("the model's own defaults", () => {
    const defaults = '{"temperature": 0.5}';
    const withIndex = (version: object) => ({
      ...indexed,
      "generation_config.json": defaults,
      "weights.json": JSON.stringify({
        ...(JSON.parse(String(indexed["weights.json"])) as object),
        ...version,
      }),
    });
    const listed = {
      version: 2,
      files: [piece(new TextEncoder().encode(defaults), "generation_config.json")],
    };

    it.each([
      ["that the index lists", withIndex(listed)],
      ["of an index that lists no files", withIndex({})],
      ["of a folder without an index", { ...hub, "generation_config.json": defaults }],
    ])("the model's own defaults reach the engine: those %s", async (_, files) => {
      const { books, loaded } = load({ files });
      await loaded;
      expect(JSON.parse(String(books.texts[3]))).toEqual({ generationConfig: defaults });
    });

    it("the model's own defaults are not requested if the index does not list them", async () => {
      const { books, loaded } = load({ files: withIndex({ version: 2, files: [] }) });
      await loaded;
      expect(books.texts[3]).toBe("{}");
    });

    it("the model's own defaults must exist if the index lists them", async () => {
      const { "generation_config.json": _, ...files } = withIndex(listed);
      await expect(load({ files }).loaded).rejects.toMatchObject({
        code: "not-found",
        message: "no generation_config.json",
      });
    });
  });

  it("loadEngine passes on the format of the cache", async () => {
    const { books, loaded } = load({ request: { kv: "f32" } });
    await loaded;
    expect(books.texts[3]).toBe('{"kv":"f32"}');
  });

  it("loadEngine measures no threads if the best count is known or there is only one thread", async () => {
    for (const setting of [{ request: { threads: 3 } }, { features: { threads: false } }]) {
      const { measure, info } = await load(setting).loaded;
      expect(measure).toBeUndefined();
      expect(info.threads).toBe(4); // as the engine reports
    }
  });

  it("loadEngine continues without failed threads, reports them, and stores no measurement", async () => {
    const books = new Books();
    books.startedThreads = 3;
    const { info, measure } = await load({ books, failed: 1 }).loaded;
    expect(info.notice).toContain("3 of 4 threads");
    expect(info.threads).toBe(3);
    expect(measure).toEqual({ measureAs: undefined });
    expect(books.calls).toContain("drop");
  });

  it("loadEngine reports why it is slower than possible", async () => {
    const { info } = await load({ features: { threads: false, isIsolated: false } }).loaded;
    expect(info.notice).toContain("cross-origin isolated");
  });

  it("loadEngine takes the build without relaxed SIMD if that computes wrong results", async () => {
    const books = new Books();
    let looks = 0;
    Object.defineProperty(books, "isExact", { get: () => looks++ > 0 });
    const { fetched, loaded } = load({ books });
    const { info } = await loaded;
    expect(fetched).toEqual(["threads-relaxed", "threads"]);
    expect(info.variant).toBe("threads");
    expect(info.notice).toContain("without relaxed SIMD");
  });

  it("loadEngine takes one thread if the builds with more do not compile", async () => {
    const books = new Books();
    books.startedThreads = 1;
    const { fetched, loaded } = load({ books, refused: ["threads-relaxed", "threads"] });
    const { info, measure } = await loaded;
    expect(fetched).toEqual(["threads-relaxed", "threads", "simd"]);
    expect(info).toMatchObject({ variant: "simd", notice: expect.stringContaining("on one thread") });
    expect(measure).toBeUndefined();
    expect(books.calls).toEqual(["create 1", "drop", "load_end"]);
  });

  it.each([
    ["engine", { ...indexed, "config.json": "{" }, "corrupt", "config.json is not valid JSON"],
    ["host", { "vocab.json": "{}" }, "not-found", "no config.json"],
    ["host, too", { "config.json": config }, "not-found", "no model.safetensors"],
    ["index", { ...indexed, "weights.json": "{}" }, "corrupt", "weights.json"],
    ["hash", { ...indexed, "w.001": weights.subarray(0, 4) }, "corrupt", "w.001 has SHA-256"],
  ])("loadEngine gives the %s's error with its code", async (_, files, code, message) => {
    await expect(load({ files }).loaded).rejects.toMatchObject({
      code,
      message: expect.stringContaining(message),
    });
  });

  it.each([indexed, hub])("loadEngine passes on the engine's error while a file streams", async (files) => {
    const books = new Books();
    books.refusal = new Gpt2Error("unsupported", "tensor h.0.x has type F64");
    await expect(load({ books, files }).loaded).rejects.toMatchObject({
      code: "unsupported",
      message: "tensor h.0.x has type F64",
    });
    expect(books.calls).not.toContain("load_end");
  });

  it("loadEngine refuses an unsupported browser before it fetches anything", async () => {
    const { fetched, loaded } = load({ features: { simd: false } });
    await expect(loaded).rejects.toMatchObject({ code: "unsupported" });
    expect(fetched).toEqual([]);
  });

  it("loadEngine passes on the engine before it is loaded, and stops if that aborts", async () => {
    const controller = new AbortController();
    const { books, loaded } = load({
      signal: controller.signal,
      onEngine: (engine) => {
        controller.abort(new Error("enough"));
        engine.destroy();
      },
    });
    await expect(loaded).rejects.toThrow("enough");
    expect(books.calls).toEqual(["create 4", "destroy"]);
    expect(books.texts).toEqual([]);
  });
});
