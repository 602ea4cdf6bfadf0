// Faults of a host beyond those of fault-table.spec.ts: byte ranges, progress, the network, an old index.
import { readFileSync } from "node:fs";
import type { ServerResponse } from "node:http";
import { resolve } from "node:path";
import { expect, test } from "@playwright/test";
import { FaultyHost, answerNotFound, tryModel, webPage } from "./faulty-host.js";
import { inPage, root } from "./model.js";
import { smallFolder } from "./small-model.js";

let host: FaultyHost;
test.beforeEach(async () => {
  host = new FaultyHost();
  await host.start();
});
test.afterEach(() => host.stop());

test("a temporary fault downloads no byte twice, and is reported", async ({ page }) => {
  const piece = readFileSync(resolve(root, "web/dist/models/demo/model.safetensors.001"));
  const begun = 1_000_000;
  await page.goto(host.page);
  let broken: ServerResponse | undefined;
  let isCut = false;
  const ranges: (string | undefined)[] = [];
  host.fault = (name, response) => {
    if (name === "break") {
      isCut = broken !== undefined;
      broken?.destroy();
      response.writeHead(204).end();
      return true;
    }
    if (!name.endsWith("safetensors.001")) return false;
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
  expect(isCut).toBe(true);
  expect(ranges).toEqual([undefined, "bytes=1000000-"]);
  expect(told.retries).toHaveLength(2);
  expect(told.retries[0]).toBeUndefined();
  expect(told.retries[1]).toMatch(/\w/);
  expect(told.most).toBe(1);
});

test("a load reports that it waits for the network, and continues when the network is back", async ({
  page,
  context,
}) => {
  await page.goto(host.page);
  let cut: () => void = () => {};
  const isCut = new Promise<void>((resolve) => (cut = resolve));
  let isFirst = true;
  host.fault = (name, response) => {
    if (!name.endsWith("safetensors.001") || !isFirst) return false;
    isFirst = false;
    const write = () => response.write(Buffer.alloc(1000), () => void context.setOffline(true).then(cut));
    response.writeHead(200, { "Content-Length": 1_000_000 });
    write();
    return true;
  };
  const loading = inPage(
    page,
    async ({ loadModel }) => {
      const retries = new Set<string | undefined>();
      const onProgress = ({ retry }: { retry?: string }) => {
        retries.add(retry);
        document.title = retry ?? "";
      };
      const model = await loadModel("models/demo/", {
        variant: "simd",
        stallMs: 1000,
        cache: false,
        onProgress,
      });
      await model.dispose();
      return [...retries];
    },
    undefined,
  );
  await isCut;
  await expect(page).toHaveTitle("waiting for the network");
  await context.setOffline(false);
  expect(await loading).toContain("waiting for the network");
});

/** The model's weights.json as it was before it listed other files than the weights. */
function indexOfVersion1(): string {
  const text = host.small.get(`${smallFolder}weights.json`)?.toString() ?? "";
  const { file, size, sha256, pieces } = JSON.parse(text) as Record<string, unknown>;
  return JSON.stringify({ file, size, sha256, pieces });
}

const empty = (response: ServerResponse) => void response.end();

test("a folder with half a tokenizer is refused", async ({ page }) => {
  await page.goto(host.page);
  for (const [file, answer, listed, unlisted] of [
    [
      /merges\.txt$/,
      answerNotFound,
      /^not-found: cannot fetch .*merges\.txt: the host answered 404/,
      /^not-found: the model has vocab\.json, but no merges\.txt: its tokenizer needs both$/,
    ],
    [
      /vocab\.json$/,
      webPage,
      /^not-found: cannot fetch .*vocab\.json: the host answered with a web page/,
      /^not-found: the model has merges\.txt, but no vocab\.json: its tokenizer needs both$/,
    ],
    [
      /merges\.txt$/,
      empty,
      /^corrupt: merges\.txt has SHA-256 e3b0c442[0-9a-f]{56}, weights\.json says [0-9a-f]{64}$/,
      /^corrupt: merges\.txt is empty$/,
    ],
  ] as const) {
    host.answer(file, answer);
    expect(await tryModel(page, smallFolder, { variant: "simd" })).toMatch(listed);
    const { fault } = host;
    host.fault = (name, response) => {
      if (!name.endsWith("weights.json")) return fault(name, response);
      response.end(indexOfVersion1());
      return true;
    };
    expect(await tryModel(page, smallFolder, { variant: "simd" })).toMatch(unlisted);
  }
});

test("a missing or empty index is an error that names it", async ({ page }) => {
  await page.goto(host.page);
  for (const [answer, sentence] of [
    [empty, /^corrupt: weights\.json is not valid JSON/],
    [webPage, /^not-found: there is no weights\.json; without it, .*model\.safetensors/],
  ] as const) {
    host.answer(/weights\.json$/, answer);
    expect(await tryModel(page, smallFolder, { variant: "simd" })).toMatch(sentence);
  }
});

test("a worker whose script is empty or never arrives is reported as missing, and its load can be aborted", async ({
  page,
}) => {
  await page.goto(host.page);
  for (const answer of [
    (response: ServerResponse) => void response.writeHead(200, { "Content-Type": "text/javascript" }).end(),
    () => {},
  ]) {
    host.answer(/gpt2-worker\.js$/, answer);
    const aborted = await inPage(
      page,
      async ({ loadModel }) => {
        const controller = new AbortController();
        const loading = loadModel("models/demo/", { signal: controller.signal }).catch(String);
        await new Promise((resolve) => setTimeout(resolve, 500));
        controller.abort(new Error("enough"));
        return Promise.race([loading, new Promise((resolve) => setTimeout(resolve, 5000, "still loading"))]);
      },
      undefined,
    );
    expect(aborted).toBe("Error: enough");
  }
  await page.clock.install();
  const failed = tryModel(page);
  // Requested again, past the browser's cache.
  await page.clock.runFor(26_000);
  await page.clock.runFor(26_000);
  expect(await failed).toMatch(/^network: the worker's script gpt2-worker\.js has not started in time/);
});
