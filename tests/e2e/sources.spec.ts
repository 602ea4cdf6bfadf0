// Models from a hub and from files of the device, as pages load them.
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { expect, test } from "@playwright/test";
import { readSafetensors, writeSafetensors } from "../web/support/safetensors.js";
import { commit } from "../weights_tools/stand-in-hub.js";
import { startDemoHub } from "./demo-hub.js";
import { give, hub, natively, useHub, write } from "./hub.js";
import { demo, inPage, native, prompt, root } from "./model.js";

const tied = resolve(root, "tests/data/tiny-models/tied");
useHub();

const expected = () => natively(demo, "--prompt", prompt);

test("a Hub id loads small files from the Hub and weights from signed addresses, without a preflight", async ({
  page,
}) => {
  give(demo);
  expect((await write(page, "user/tale", {}, prompt)).ids).toEqual(expected());
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
    native("convert", tied, folder, ...["--json", "--weights", weights, "--calibration-tokens", "0"]);
    return natively(folder, "--ids", "1,2,3");
  }

  test("a revision of a Hub model is converted to q4", async ({ page }) => {
    give(tied, ["config.json", "model.safetensors"]);
    expect((await write(page, "hf:user/tied@v1", { weights: "q4" })).ids).toEqual(convertedNatively("q4"));
    expect(hub.asked[0]?.path).toContain("/user/tied/resolve/v1/");
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
    const expectedIds = convertedNatively("q8");
    for (const folder of Object.keys(folders)) {
      const visit = async () => (await write(page, `floats/${folder}/`, { hub: undefined, cache: true })).ids;
      expect(await visit(), folder).toEqual(expectedIds);
      expect(asked.some((name) => /safetensors$/.test(name))).toBe(true);
      asked.length = 0;
      expect(await visit(), folder).toEqual(expectedIds);
      expect(asked.filter((name) => /safetensors$/.test(name))).toEqual([]);
      isOffline = true;
      expect(await visit(), `${folder}, offline`).toEqual(expectedIds);
      isOffline = false;
    }
  });
});

test("a page reads the Hub's reason, although the Hub is another origin", async ({ page }) => {
  Object.assign(hub, { status: 401, errorCode: "GatedRepo" });
  await expect(write(page, "user/tale")).rejects.toThrow(
    /network: .* accept its owner's conditions at http:\/\/localhost:\d+\/user\/tale, then pass an access token/,
  );
});

test("a plain name means the page's own folder first, and only then an id", async ({ page }) => {
  const asked: string[] = [];
  const hubOfPage = await startDemoHub(page, (pathname) => void asked.push(pathname)); // not the real one
  const writeFrom = async (name: string) => (await write(page, name, { hub: undefined }, prompt)).ids;
  expect(await writeFrom("models/demo")).toEqual(expected());
  expect(asked).toEqual([]);
  expect(await writeFrom("user/tale")).toEqual(expected());
  expect(asked.length).toBeGreaterThan(4);
  asked.length = 0;
  // With a slash at its end it is always a folder of the host.
  await expect(writeFrom("user/tale/")).rejects.toThrow(
    /not-found: cannot fetch http:\/\/localhost:\d+\/user\/tale\//,
  );
  expect(asked).toEqual([]);
  hubOfPage.stop();
});

test("a folder of this device loads without a request", async ({ page }) => {
  const asked: string[] = [];
  page.on("request", (request) => asked.push(new URL(request.url()).pathname));
  await page.setContent('<input id="pick" type="file" webkitdirectory />');
  await page.setInputFiles("#pick", demo);
  const found = await inPage(
    page,
    async ({ loadModel }, text) => {
      const store = await navigator.storage.getDirectory();
      const folder = await store.getDirectoryHandle("picked", { create: true });
      for (const file of (document.getElementById("pick") as HTMLInputElement).files ?? []) {
        const handle = await folder.getFileHandle(file.name, { create: true });
        const writable = await handle.createWritable();
        await writable.write(file);
        await writable.close();
      }
      const model = await loadModel(folder, { variant: "simd" });
      const { tokens } = await model.complete(text, { maxNewTokens: 12, temperature: 0 });
      await model.dispose();
      return tokens.map((token) => token.id);
    },
    prompt,
  );
  expect(found).toEqual(expected());
  expect(asked.filter((path) => path.includes("/models/"))).toEqual([]);
});

// A chunk has its own copy of the classes.
test("an invalid or forbidden source throws one of the module's own error classes", async ({ page }) => {
  const found = await inPage(
    page,
    async ({ loadModel, Gpt2Error, InvalidArgumentError, LoadError }) => {
      const failureOf = async (source: unknown) => {
        const error = await loadModel(source as string).catch((thrown: unknown) => thrown);
        const kinds = [Gpt2Error, InvalidArgumentError, LoadError].map((kind) => error instanceof kind);
        return [...kinds, (error as Error).message];
      };
      const queryPermission = async () => "denied";
      return [
        await failureOf("hf:a/b/c"),
        await failureOf({ kind: "directory", name: "models", getFileHandle() {}, queryPermission }),
        await failureOf([new File(["{}"], "config.json")]),
        await failureOf([new File(["{}"], "config.json"), new File(["none at all"], "model.safetensors")]),
      ];
    },
    undefined,
  );
  expect(found).toEqual([
    [true, true, false, expect.stringContaining('the model\'s id is "hf:a/b/c"')],
    [true, false, true, expect.stringContaining('this page may not read "models"')],
    [true, false, true, expect.stringContaining("there is no model.safetensors among the files")],
    [true, false, true, expect.stringContaining('config.json: "n_embd" and "model_type" are missing')],
  ]);
});
