// Stored models while the site's data is cleared, the disk is full, a model is removed, or the host sends wrong answers.
import { expect, test, type Page } from "@playwright/test";
import { CountingHost, demoBytes, load, write } from "./counting-host.js";
import { inPage, prompt } from "./model.js";

test.describe.configure({ timeout: 120_000 }); // many loads in one test

let host: CountingHost;
test.beforeEach(async ({ page }) => {
  host = new CountingHost();
  await host.start();
  await page.goto(host.page);
});
test.afterEach(() => host.stop());

const stored = (page: Page) =>
  inPage(
    page,
    async ({ listModels, storage }) => ({
      models: (await listModels()).map(({ id, isComplete }) => [id.replace(/.*\/models/, ""), isComplete]),
      bytes: (await storage()).modelBytes,
    }),
    undefined,
  );

/** Clears the site's data, as a user does in the browser's settings. */
async function clearData(page: Page): Promise<void> {
  const devTools = await page.context().newCDPSession(page);
  await devTools.send("Storage.clearDataForOrigin", {
    origin: new URL(host.page).origin,
    storageTypes: "all",
  });
}

async function limit(page: Page, quotaSize?: number): Promise<void> {
  const devTools = await page.context().newCDPSession(page);
  await devTools.send("Storage.overrideQuotaForOrigin", {
    origin: new URL(host.page).origin,
    ...(quotaSize !== undefined && { quotaSize }),
  });
}

test("after the site's data is cleared, an open page loads, stores and removes models as before", async ({
  page,
  context,
}) => {
  const other = await context.newPage();
  await other.goto(host.page);
  const { written } = await write(page);
  for (let time = 0; time < 2; time += 1) {
    await clearData(page);
    expect(await stored(page)).toEqual({ models: [], bytes: 0 });
    expect((await write(page)).written).toBe(written);
    expect((await write(other)).written).toBe(written);
    const second = await write(page);
    expect(second).toMatchObject({ written, notStored: null });
    expect(second.sources).toContain("cache");
    expect((await stored(other)).models).toEqual([["/demo/", true]]);
  }
});

test("clearing the data while a model loads or writes interrupts neither", async ({ page }) => {
  host.bytesPerSecond = 8e6;
  const loading = write(page);
  await expect.poll(() => host.weightBytes, { timeout: 30_000 }).toBeGreaterThan(demoBytes() / 3);
  await clearData(page);
  const { written } = await loading;
  host.bytesPerSecond = Infinity;
  const again = await write(page);
  expect(again.written).toBe(written);

  const writing = inPage(
    page,
    async ({ loadModel }, [text, chosen]) => {
      const model = await loadModel("models/demo/", chosen);
      document.title = "loaded";
      const { text: whole } = await model.complete(text, { maxNewTokens: 120, temperature: 0 });
      await model.dispose();
      return whole;
    },
    [prompt, load] as const,
  );
  await page.waitForFunction(() => document.title === "loaded");
  await clearData(page);
  expect((await writing).startsWith(written)).toBe(true);
  expect((await write(page)).written).toBe(written);
});

test("on a full disk a stored model is listed, loads without its host, and can be removed", async ({
  page,
}) => {
  const { written } = await write(page);
  await limit(page, 1000); // less than the stored bytes
  await page.reload();
  expect((await stored(page)).models).toEqual([["/demo/", true]]);
  const before = host.weightBytes;
  const second = await write(page);
  expect(second.written).toBe(written);
  expect(second.sources).toContain("cache");
  expect(host.weightBytes).toBe(before);
  const isGone = await inPage(page, async ({ removeModel }) => removeModel("models/demo/"), undefined);
  expect(isGone).toBe(true);
  expect(await stored(page)).toEqual({ models: [], bytes: 0 });
});

/** Stores a model of one file of `size` bytes, as a record and a blob. */
const storeModel = (page: Page, id: string, size: number) =>
  page.evaluate(
    async ([id, size]) => {
      const digest = async (data: Uint8Array<ArrayBuffer>) =>
        Array.from(new Uint8Array(await crypto.subtle.digest("SHA-256", data)), (byte) =>
          byte.toString(16).padStart(2, "0"),
        ).join("");
      const put = async (folder: string, name: string, data: Uint8Array<ArrayBuffer>) => {
        let inside = await navigator.storage.getDirectory();
        for (const each of ["gpt2-wasm", folder]) {
          inside = await inside.getDirectoryHandle(each, { create: true });
        }
        const writable = await (await inside.getFileHandle(name, { create: true })).createWritable();
        await writable.write(data);
        await writable.close();
      };
      const content = new Uint8Array(size);
      const sha256 = await digest(content);
      await put("blobs", sha256, content);
      const utf8 = new TextEncoder();
      const record = { id, files: [], missing: [], pieces: [{ path: "p", size, sha256 }] };
      await put("models", `${await digest(utf8.encode(id))}-as-is-`, utf8.encode(JSON.stringify(record)));
    },
    [id, size] as const,
  );

test("a third model replaces the oldest, even if the browser overestimates the room", async ({ page }) => {
  await storeModel(page, "http://host/older/", 9_000_000);
  await storeModel(page, "http://host/newer/", 9_000_001);
  await limit(page, 18_000_000 + demoBytes() / 2); // Chromium's estimate leaves this limit out
  expect((await write(page)).notStored).toBeNull();
  const ids = await inPage(
    page,
    async ({ listModels }) => (await listModels()).map(({ id }) => id),
    undefined,
  );
  expect(ids).toEqual([expect.stringMatching(/\/models\/demo\/$/), "http://host/newer/"]);
});

test("a model that is removed while another tab downloads it leaves no data", async ({ page, context }) => {
  host.bytesPerSecond = 3e6;
  const other = await context.newPage();
  await other.goto(host.page);
  const loading = write(other);
  await expect.poll(async () => (await stored(page)).models.length, { timeout: 30_000 }).toBe(1);
  await expect.poll(() => host.weightBytes).toBeGreaterThan(demoBytes() / 4);
  expect(await inPage(page, async ({ removeModel }) => removeModel("models/demo/"), undefined)).toBe(true);
  expect((await loading).notStored).toBe("it was removed during loading");
  await expect.poll(() => stored(page)).toEqual({ models: [], bytes: 0 });
});

test("a host that answers everything with an error, with nothing or with a page removes no stored model", async ({
  page,
}) => {
  const { written } = await write(page);
  const count = host.fault;
  for (const [body, type] of [
    ['{"error":"busy"}', "application/json"],
    ["", "application/octet-stream"],
    ["Service Unavailable", "text/plain"],
    ["<!doctype html><title>Sign in</title>", "text/html"],
    ['{"size":0,"pieces":[]}', "application/json"], // another model's index, of which nothing is there
  ] as const) {
    host.fault = (name, response) => {
      if (!name.startsWith("models/")) return count(name, response);
      response.writeHead(200, { "Content-Type": type });
      response.end(body);
      return true;
    };
    const again = await write(page); // the next answer finds what this one has left
    expect.soft(again.written, body).toBe(written);
    expect.soft(again.sources, body).toContain("cache");
    expect.soft((await stored(page)).models, body).toEqual([["/demo/", true]]);
  }
});
