// A connection that breaks and a network that goes away during a load; fault-table.spec.ts has the host's other faults.
import { readFileSync } from "node:fs";
import type { ServerResponse } from "node:http";
import { resolve } from "node:path";
import { expect, test } from "@playwright/test";
import { FaultyHost } from "./faulty-host.js";
import { inPage, root } from "./model.js";

let host: FaultyHost;
test.beforeEach(async ({ page }) => {
  host = new FaultyHost();
  await host.start();
  await page.goto(host.page);
});
test.afterEach(() => host.stop());

const file = "models/demo/model.safetensors.001";
const piece = readFileSync(resolve(root, "web/dist", file));
/** The bytes that arrive before the fault. */
const begun = 1_000_000;

test("a temporary fault downloads no byte twice, and is reported", async ({ page }) => {
  let broken: ServerResponse | undefined;
  const ranges: (string | undefined)[] = [];
  host.fault = (name, response) => {
    if (name === "break") {
      broken?.destroy();
      response.writeHead(204).end();
      return true;
    }
    if (name !== file) return false;
    ranges.push(response.req.headers.range);
    if (broken) return false;
    broken = response;
    response.writeHead(200, { "Content-Length": piece.length });
    response.write(piece.subarray(0, begun));
    return true;
  };
  const told = await inPage(
    page,
    async ({ loadModel }, missing) => {
      const retries: (string | undefined)[] = [];
      const most: number[] = [];
      const model = await loadModel("models/demo/", {
        variant: "simd",
        onProgress: ({ retry, loadedBytes, totalBytes }) => {
          // A browser drops the bytes of a broken connection that nobody has read yet.
          if (totalBytes - loadedBytes === missing) void fetch("break");
          retries.push(retry);
          most.push(totalBytes === 0 ? 0 : loadedBytes / totalBytes);
        },
      });
      await model.dispose();
      return { retries: [...new Set(retries)], most: Math.max(...most) };
    },
    piece.length - begun, // all other files are read by then
  );
  expect(ranges).toEqual([undefined, `bytes=${begun}-`]);
  expect(told.retries).toEqual([undefined, expect.stringMatching(/\w/)]);
  expect(told.most).toBe(1);
});

test("a load reports that it waits for the network, and continues when the network is back", async ({
  page,
  context,
}) => {
  let isFirst = true;
  host.fault = (name, response) => {
    if (name !== file || !isFirst) return false;
    isFirst = false;
    response.writeHead(200, { "Content-Length": piece.length });
    response.write(piece.subarray(0, begun), () => void context.setOffline(true));
    return true;
  };
  const loading = inPage(
    page,
    async ({ loadModel }) => {
      const onProgress = ({ retry }: { retry?: string }) => (document.title = retry ?? "");
      const options = { variant: "simd", stallMs: 1000, cache: false, onProgress } as const;
      await (await loadModel("models/demo/", options)).dispose();
    },
    undefined,
  );
  await expect(page).toHaveTitle("waiting for the network");
  await context.setOffline(false);
  await loading;
});
