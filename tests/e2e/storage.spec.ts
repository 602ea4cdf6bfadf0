// Models that are stored on the device. The cases are the next visit, no network, two tabs, a reload during the load, no room,
// and damage.
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { expect, test } from "@playwright/test";
import { withoutHash } from "../../web/scripts/hash-files.mjs";
import { CountingHost, demoBytes, load, write } from "./counting-host.js";
import { inPage, root } from "./model.js";

test.describe.configure({ timeout: 120_000 }); // many loads in one test

let host: CountingHost;
test.beforeEach(async ({ page }) => {
  host = new CountingHost();
  await host.start();
  await page.goto(host.page);
});
test.afterEach(() => host.stop());

test("the second visit fetches no weights and needs no host", async ({ page }) => {
  const first = await write(page);
  expect(first.notStored).toBeNull();
  expect(first.sources).toContain("network");
  expect(host.weightBytes).toBe(demoBytes());
  await page.reload();
  host.asked = [];
  const second = await write(page);
  expect(second.written).toBe(first.written);
  expect(second.sources).toContain("cache");
  expect(host.weightBytes).toBe(demoBytes());
  expect([...new Set(host.asked)].every((name) => /(weights|config)\.json$/.test(name))).toBe(true);

  // The page is open already, so only the models are offline. Opening it offline would need a service worker.
  await page.route("**/models/**", (route) => route.abort("internetdisconnected"));
  const offline = await write(page);
  expect(offline.written).toBe(first.written);
  await page.unroute("**/models/**");

  expect((await write(page, { ...load, cache: false })).written).toBe(first.written);
  expect(host.weightBytes).toBe(2 * demoBytes());
});

test("two tabs that load at once download the model once", async ({ page, context }) => {
  host.bytesPerSecond = 8e6;
  const other = await context.newPage();
  await other.goto(host.page);
  const [one, two] = await Promise.all([write(page), write(other)]);
  expect(one.written).toBe(two.written);
  expect(host.weightBytes).toBe(demoBytes());
});

test("if a tab dies during a download, another tab downloads only the rest", async ({ page, context }) => {
  host.bytesPerSecond = 2e6;
  const dying = await context.newPage();
  await dying.goto(host.page);
  void write(dying).catch(() => undefined);
  await expect.poll(() => host.weightBytes, { timeout: 30_000 }).toBeGreaterThan(1_000_000);
  const waiting = write(page);
  await dying.close(); // the host keeps sending for a while, because it learns of the closed connection later
  expect((await waiting).notStored).toBeNull();
  expect(host.weightBytes).toBeLessThan(demoBytes() * 1.3); // includes bytes that were sent to the closed tab
});

test("reloads during a download fetch no byte twice", async ({ page }) => {
  host.bytesPerSecond = 2e6; // few bytes are on their way when a busy machine reloads late
  for (let cut = 1; cut <= 4; ++cut) {
    void write(page).catch(() => undefined);
    const until = (demoBytes() * cut) / 5;
    await expect.poll(() => host.weightBytes, { timeout: 30_000, intervals: [10] }).toBeGreaterThan(until);
    await page.reload();
  }
  host.bytesPerSecond = Infinity;
  const { written } = await write(page);
  expect(written).toBe((await write(page, { ...load, cache: false })).written);
  const sent = host.weightBytes - demoBytes();
  // `sent` includes bytes in socket buffers that were never read: up to a megabyte per reload on a busy machine.
  // If the last load started from the beginning, it would be 1.8 times the bytes.
  expect(sent).toBeLessThan(demoBytes() * 1.6);
});

test("without room the model streams and a notice says so; with little room nothing breaks", async ({
  page,
  context,
}) => {
  const devTools = await context.newCDPSession(page);
  const origin = new URL(host.page).origin;
  for (const quotaSize of [1_000_000, 3_000_000]) {
    await devTools.send("Storage.overrideQuotaForOrigin", { origin, quotaSize });
    const { written, notStored } = await write(page);
    expect(written.length).toBeGreaterThan(3);
    expect(notStored).toMatch(/^(it takes [\d.]+ MB more, and )?the browser gives this site/);
  }
  await devTools.send("Storage.overrideQuotaForOrigin", { origin });
  expect((await write(page)).notStored).toBeNull();
});

for (const [what, code, said] of [
  [
    "no file system",
    "StorageManager.prototype.getDirectory = async () => { throw new DOMException('no', 'SecurityError') }",
    null,
  ],
  [
    "no storage at all",
    "StorageManager.prototype.getDirectory = async () => { throw new DOMException('no', 'SecurityError') }; CacheStorage.prototype.open = async () => { throw new DOMException('no', 'SecurityError') }",
    /^this browser gives this page no storage, which is usual in private windows/,
  ],
] as const) {
  test(`with ${what} the model ${said ? "streams, and a notice says so" : "is stored in Cache Storage"}`, async ({
    page,
  }) => {
    await page.addInitScript(code);
    const count = host.fault;
    const script = `${code};\n${withoutHash(readFileSync(resolve(root, "web/dist/gpt2-worker.js"), "utf8"))}`;
    host.fault = (name, response) => {
      if (name !== "gpt2-worker.js") return count(name, response);
      response.setHeader("Content-Type", "text/javascript");
      response.end(script);
      return true;
    };
    await page.reload();
    const first = await write(page);
    if (said) expect(first.notStored).toMatch(said);
    else expect(first.notStored).toBeNull();
    const second = await write(page);
    expect(second.written).toBe(first.written);
    expect(host.weightBytes).toBe(said ? 2 * demoBytes() : demoBytes());
    const kind = await inPage(page, async ({ storage }) => (await storage()).kind, undefined);
    expect(kind).toBe(said ? null : "cache-storage");
  });
}

test("a model that changed at its host is detected, and never mixed with the stored one", async ({
  page,
}) => {
  await write(page);
  const count = host.fault;
  host.fault = (name, response) => {
    if (!name.endsWith("weights.json")) return count(name, response);
    const index = readFileSync(resolve(root, "web/dist/models/demo/weights.json"), "utf8");
    response.end(`${index} `); // another file, of the same pieces
    return true;
  };
  host.asked = [];
  const { notStored } = await write(page);
  expect(notStored).toBeNull();
  expect(host.asked).toContain("models/demo/vocab.json");
  expect(host.weightBytes).toBe(demoBytes());
});
