// Models from a hub and from files of the device, as pages load them.
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import type { ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { expect, test, type Page } from "@playwright/test";
import { ggufMetadata, ggufTensors, writeGguf } from "../web/support/gguf.js";
import { readSafetensors, writeSafetensors } from "../web/support/safetensors.js";
import { commit } from "../weights_tools/stand-in-hub.js";
import { hub, origin, useHub } from "./hub.js";
import { demo, inPage, native, prompt, root } from "./model.js";

const tied = resolve(root, "tests/data/tiny-models/tied");
const call = { maxNewTokens: 12, temperature: 0 };

useHub();

function give(folder: string, names = readdirSync(folder)): void {
  for (const name of names) hub.files[name] = readFileSync(resolve(folder, name));
}

/** The text of the model `id` after the prompt, or its error. */
const write = (page: Page, id: string, options: object = {}) =>
  inPage(
    page,
    async ({ loadModel }, [source, load, text, generate]) => {
      try {
        const model = await loadModel(source, { variant: "simd", ...load });
        const { tokens } = await model.complete(model.info.hasTokenizer ? text : [1, 2, 3], generate);
        await model.dispose();
        return tokens.map((token) => token.id);
      } catch (error) {
        const { code, message } = error as Error & { code: string };
        return `${code}: ${message}`;
      }
    },
    [id, { hub: origin, cache: false, ...options }, prompt, call] as const,
  );

const natively = (...args: string[]): number[] =>
  native("generate", ...args, "--json", "--max-new-tokens", "12", "--temperature", "0").ids;
const expected = () => natively(demo, "--prompt", prompt);

test("a Hub id loads small files from the Hub and weights from signed addresses, without a preflight", async ({
  page,
}) => {
  give(demo);
  expect(await write(page, "user/tale")).toEqual(expected());
  expect(hub.preflights).toBe(0);
  const weights = hub.asked.filter(({ path }) => /safetensors\.\d+$/.test(path));
  expect(new Set(weights.map(({ host }) => host))).toEqual(new Set(["hub", "store"]));
  expect(hub.asked.filter(({ path }) => path.includes("/resolve/main/")).length).toBeGreaterThan(0);
  // The branch may change during the load, so later requests name the commit of the first answer.
  for (const { path } of weights.filter(({ host }) => host === "hub")) {
    expect(path).toContain(`/user/tale/resolve/${commit}/`);
  }
});

test.describe("a model of floats is converted while it is read", () => {
  const scratch = mkdtempSync(join(tmpdir(), "gpt2-sources-"));
  test.afterAll(() => rmSync(scratch, { recursive: true }));

  /** The tokens of a model that the native tool has converted to `weights`. */
  function convertedNatively(weights: string): number[] {
    const folder = join(scratch, weights);
    native(
      "convert",
      tied,
      folder,
      "--json",
      "--force",
      "--weights",
      weights,
      ...(weights === "q4" ? ["--calibration-tokens", "0"] : []),
    );
    return natively(folder, "--ids", "1,2,3");
  }

  for (const weights of ["q8", "q4", "f32"] as const) {
    test(`a revision of a Hub model is converted to ${weights}`, async ({ page }) => {
      give(tied, ["config.json", "model.safetensors"]);
      expect(await write(page, "hf:user/tied@v1", { weights })).toEqual(convertedNatively(weights));
      expect(hub.asked[0]?.path).toContain("/user/tied/resolve/v1/");
    });
  }

  test("a sharded model is converted", async ({ page }) => {
    give(tied, ["config.json"]);
    const tensors = [...readSafetensors(readFileSync(resolve(tied, "model.safetensors")))];
    const map: Record<string, string> = {};
    for (const part of [0, 1]) {
      const shard = `model-0000${part + 1}-of-00002.safetensors`;
      const inside = tensors.filter((_, i) => i % 2 === part);
      hub.files[shard] = writeSafetensors(new Map(inside));
      for (const [name] of inside) map[name] = shard;
    }
    hub.files["model.safetensors.index.json"] = Buffer.from(JSON.stringify({ weight_map: map }));
    expect(await write(page, "user/tied")).toEqual(convertedNatively("q8"));
  });

  test("a model in a plain folder, in one file or in shards, is converted and stored: the next visit fetches no weights", async ({
    page,
  }) => {
    const tensors = [...readSafetensors(readFileSync(resolve(tied, "model.safetensors")))];
    const shards: Record<string, Buffer> = {};
    const map: Record<string, string> = {};
    for (const part of [0, 1]) {
      const shard = `model-0000${part + 1}-of-00002.safetensors`;
      const inside = tensors.filter((_, i) => i % 2 === part);
      shards[shard] = writeSafetensors(new Map(inside));
      for (const [name] of inside) map[name] = shard;
    }
    shards["model.safetensors.index.json"] = Buffer.from(JSON.stringify({ weight_map: map }));
    const config = { "config.json": readFileSync(resolve(tied, "config.json")) };
    const whole = { "model.safetensors": readFileSync(resolve(tied, "model.safetensors")) };
    const folders: Record<string, Record<string, Buffer>> = {
      whole: { ...config, ...whole },
      shards: { ...config, ...shards },
    };
    const asked: string[] = [];
    let isOffline = false;
    await page.route("**/floats/**", (route) => {
      if (isOffline) return route.abort("internetdisconnected");
      const [folder = "", name = ""] = new URL(route.request().url()).pathname.split("/").slice(-2);
      const body = folders[folder]?.[name];
      const isHead = route.request().method() === "HEAD";
      if (!isHead) asked.push(name);
      const headers = { ETag: `"${folder} ${name}"` };
      return body ? route.fulfill({ body: isHead ? "" : body, headers }) : route.fulfill({ status: 404 });
    });
    for (const folder of Object.keys(folders)) {
      const options = { hub: undefined, cache: true };
      const first = await write(page, `floats/${folder}/`, options);
      expect(first, folder).toEqual(convertedNatively("q8"));
      expect(asked.some((name) => /safetensors$/.test(name))).toBe(true);
      asked.length = 0;
      expect(await write(page, `floats/${folder}/`, options), folder).toEqual(first);
      expect(asked.filter((name) => /safetensors$/.test(name))).toEqual([]);
      isOffline = true;
      expect(await write(page, `floats/${folder}/`, options), `${folder}, offline`).toEqual(first);
      isOffline = false;
    }
    const f32 = await write(page, "models/demo/", { hub: undefined, weights: "f32" });
    expect(f32).toMatch(/^unsupported: weights is "f32", but the model is already converted to q8/);
  });

  test("the converted model is stored: the next visit fetches no weights", async ({ page }) => {
    give(tied, ["config.json", "model.safetensors"]);
    const first = await write(page, "user/tied", { cache: true });
    expect(first).toEqual(convertedNatively("q8"));
    hub.asked.length = 0;
    expect(await write(page, "user/tied", { cache: true })).toEqual(first);
    expect(hub.asked.filter(({ path }) => path.includes("/resolve/"))).toEqual([]);
  });
});

test("a GGUF file from the Hub, an address or this device gives the same model", async ({ page }) => {
  const config = JSON.parse(readFileSync(resolve(tied, "config.json"), "utf8"));
  const tensors = readSafetensors(readFileSync(resolve(tied, "model.safetensors")));
  const gguf = writeGguf(
    ggufMetadata(config),
    ggufTensors(tensors, () => "F32"),
  );
  hub.files["tied.gguf"] = gguf;
  const expected = natively(tied, "--ids", "1,2,3");
  expect(await write(page, "user/tied-GGUF/tied.gguf")).toEqual(expected);
  await page.route("**/models/tied.gguf", (route) => route.fulfill({ body: gguf }));
  expect(await write(page, "models/tied.gguf", { hub: undefined })).toEqual(expected);
  // This repository has only GGUF files, and the id names none of them.
  expect(await write(page, "user/tied-GGUF")).toMatch(
    /^not-found: user\/tied-GGUF has no model\.safetensors, but tied\.gguf: /,
  );
  await page.setContent('<input id="pick" type="file" />');
  await page.setInputFiles("#pick", { name: "tied.gguf", mimeType: "", buffer: gguf });
  const ofFile = await inPage(
    page,
    async ({ loadModel }, [generate]) => {
      const [file] = (document.getElementById("pick") as HTMLInputElement).files ?? [];
      if (!file) throw new Error("nothing was picked");
      const model = await loadModel(file, { variant: "simd" });
      const { tokens } = await model.complete([1, 2, 3], generate);
      await model.dispose();
      return tokens.map((token) => token.id);
    },
    [call] as const,
  );
  expect(ofFile).toEqual(expected);
});

test("after a connection breaks, the rest comes from the Hub's own address, which signs it again", async ({
  page,
}) => {
  give(demo);
  const bytes = hub.files["model.safetensors.001"] ?? Buffer.alloc(0);
  let isFirst = true;
  hub.fault = (name, response: ServerResponse) => {
    if (name !== "model.safetensors.001" || !isFirst) return false;
    isFirst = false;
    response.writeHead(200, { "Content-Length": bytes.length });
    response.write(bytes.subarray(0, 1_000_000), () => setTimeout(() => response.destroy(), 1500));
    return true;
  };
  expect(await write(page, "user/tale")).toEqual(expected());
  expect(hub.preflights).toBe(0);
  const rests = hub.asked.filter(({ path, range }) => path.endsWith(".001") && range !== undefined);
  expect(rests.map(({ host }) => host)).toEqual(["hub", "store"]);
  expect(Number(/\d+/.exec(rests[1]?.range ?? "")?.[0])).toBeGreaterThan(0);
});

test("a page reads the Hub's reason, although the Hub is another origin", async ({ page }) => {
  Object.assign(hub, { status: 401, errorCode: "GatedRepo" });
  expect(await write(page, "user/tale")).toMatch(
    /^network: .* accept its owner's conditions at http:\/\/localhost:\d+\/user\/tale, then pass an access token/,
  );
});

test("a missing revision and a missing file have messages of their own", async ({ page }) => {
  give(demo);
  expect(await write(page, "user/tale@v9")).toMatch(/^not-found: .*user\/tale@v9 .*it has no revision "v9"/);
  delete hub.files["config.json"];
  expect(await write(page, "user/tale")).toMatch(/^not-found: .* it has no config\.json/);
});

test("a plain name means the page's own folder first, and only then an id", async ({ page }) => {
  give(demo);
  const asked: string[] = [];
  // No request may go to the real Hub.
  await page.route("https://huggingface.co/**", async (route) => {
    const url = new URL(route.request().url());
    asked.push(url.pathname);
    const answer = await fetch(`${origin}${url.pathname}`);
    await route.fulfill({
      status: answer.status,
      headers: {
        "Access-Control-Allow-Origin": "*",
        "X-Error-Code": answer.headers.get("x-error-code") ?? "",
      },
      body: Buffer.from(await answer.arrayBuffer()),
    });
  });
  expect(await write(page, "models/demo", { hub: undefined })).toEqual(expected());
  expect(asked).toEqual([]);
  expect(await write(page, "user/tale", { hub: undefined })).toEqual(expected());
  expect(asked.length).toBeGreaterThan(4);
  asked.length = 0;
  // With a slash at its end it is always a folder of the host.
  expect(await write(page, "user/tale/", { hub: undefined })).toMatch(
    /^not-found: cannot fetch http:\/\/localhost:\d+\/user\/tale\//,
  );
  expect(asked).toEqual([]);
});

test.describe("local files", () => {
  /** The text of a model from `source`, which returns the files of a picked folder. */
  async function writeFrom(page: Page, folder: string, kind: "files" | "handle") {
    await page.setContent('<input id="pick" type="file" webkitdirectory />');
    await page.setInputFiles("#pick", folder);
    return inPage(
      page,
      async ({ loadModel }, [how, text, generate]) => {
        const files = [...((document.getElementById("pick") as HTMLInputElement).files ?? [])];
        let source: File[] | FileSystemDirectoryHandle = files;
        if (how === "handle") {
          const store = await navigator.storage.getDirectory();
          source = await store.getDirectoryHandle("picked", { create: true });
          for (const file of files) {
            const handle = await source.getFileHandle(file.name, { create: true });
            const writable = await handle.createWritable();
            await writable.write(file);
            await writable.close();
          }
        }
        try {
          const loads = [loadModel(source, { variant: "simd" }), loadModel(source, { variant: "simd" })];
          const [model, same] = await Promise.all(loads);
          if (!model || !same) throw new Error("no model");
          const { tokens } = await model.complete(text, generate);
          await Promise.all([model.dispose(), same.dispose()]);
          return tokens.map((token) => token.id);
        } catch (error) {
          const { code, message } = error as Error & { code: string };
          return `${code}: ${message}`;
        }
      },
      [kind, prompt, call] as const,
    );
  }

  for (const kind of ["files", "handle"] as const) {
    test(`${kind} of this device load without a request`, async ({ page }) => {
      const asked: string[] = [];
      page.on("request", (request) => asked.push(new URL(request.url()).pathname));
      expect(await writeFrom(page, demo, kind)).toEqual(expected());
      expect(asked.filter((path) => path.includes("/models/"))).toEqual([]);
    });
  }

  test("local files that are no model are refused by name", async ({ page }) => {
    const told = await writeFrom(page, resolve(root, "tests/data/gpt2-tokenizer"), "files");
    expect(told).toMatch(/^invalid-argument: there is no model among the files \(gpt2-tokenizer\//);
  });
});
