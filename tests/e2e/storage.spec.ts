// Models that are stored on the device: two tabs, a reload during the load, cleared data, and a host that sends
// something else. tests/browsers/core.spec.ts has the next visit, tests/web/storage-faults.test.ts the faults of a disk.
import { expect, test, type Page } from "@playwright/test";
import { CountingHost, demoBytes, load, write } from "./counting-host.js";
import { inPage } from "./model.js";

let host: CountingHost;
test.beforeEach(async ({ page }) => {
  host = new CountingHost();
  await host.start();
  await page.goto(host.page);
});
test.afterEach(() => host.stop());

test("if a tab dies during a download, another tab downloads only the rest", async ({ page, context }) => {
  host.bytesPerSecond = 2e6;
  const dying = await context.newPage();
  await dying.goto(host.page);
  void write(dying).catch(() => undefined);
  await expect.poll(() => host.weightBytes).toBeGreaterThan(1_000_000);
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
    await expect.poll(() => host.weightBytes, { intervals: [10] }).toBeGreaterThan(until);
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

const stored = (page: Page) =>
  inPage(
    page,
    async ({ listModels, storage }) => ({
      models: (await listModels()).map(({ id, isComplete }) => [id.replace(/.*\/models/, ""), isComplete]),
      bytes: (await storage()).modelBytes,
    }),
    undefined,
  );

test("after the site's data is cleared, also during a load, an open page loads and stores as before", async ({
  page,
  context,
}) => {
  const devTools = await context.newCDPSession(page);
  const clear = () =>
    devTools.send("Storage.clearDataForOrigin", { origin: new URL(host.page).origin, storageTypes: "all" });
  host.bytesPerSecond = 8e6;
  const loading = write(page);
  await expect.poll(() => host.weightBytes).toBeGreaterThan(demoBytes() / 3);
  await clear();
  const { written } = await loading;
  host.bytesPerSecond = Infinity;
  expect((await write(page)).written).toBe(written);
  await clear();
  expect(await stored(page)).toEqual({ models: [], bytes: 0 });
  expect((await write(page)).written).toBe(written);
  const other = await context.newPage();
  await other.goto(host.page);
  const second = await write(other);
  expect(second).toMatchObject({ written, notStored: null });
  expect(second.sources).toContain("cache");
  expect((await stored(other)).models).toEqual([["/demo/", true]]);
});

test("a host that answers everything with an error, with nothing or with a page removes no stored model", async ({
  page,
}) => {
  const { written } = await write(page);
  for (const [body, type] of [
    ['{"error":"busy"}', "application/json"],
    ["", "application/octet-stream"],
    ["<!doctype html><title>Sign in</title>", "text/html"],
    ['{"size":0,"pieces":[]}', "application/json"], // another model's index, of which nothing is there
  ] as const) {
    host.answer(/^models\//, (response) => {
      response.writeHead(200, { "Content-Type": type }).end(body);
    });
    const again = await write(page); // the next answer finds what this one has left
    expect.soft(again.written, body).toBe(written);
    expect.soft(again.sources, body).toContain("cache");
    expect.soft((await stored(page)).models, body).toEqual([["/demo/", true]]);
  }
});
