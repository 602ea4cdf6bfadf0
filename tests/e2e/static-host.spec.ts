// The built files on hosts that send nothing but the files.
import { readFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { resolve } from "node:path";
import { deflateRawSync } from "node:zlib";
import { expect, test } from "@playwright/test";
import sirv from "sirv";
import type * as Gpt2 from "../../web/src/client/index.js";

const dist = resolve(import.meta.dirname, "../../web/dist");
const tinyModels = resolve(import.meta.dirname, "../data/tiny-models");
let server: Server;
let origin: string;

test.beforeAll(async () => {
  // Many hosts serve sites below a sub-path.
  const serve = sirv(dist);
  const serveTinyModels = sirv(tinyModels);
  server = createServer((request, response) => {
    if (request.url?.startsWith("/some/where/tiny/")) {
      request.url = request.url.slice("/some/where/tiny".length);
      return serveTinyModels(request, response, () => void response.writeHead(404).end());
    }
    if (!request.url?.startsWith("/some/where/")) return void response.writeHead(404).end();
    request.url = request.url.slice("/some/where".length);
    serve(request, response);
  });
  await new Promise<void>((listening) => server.listen(0, "localhost", listening));
  origin = `http://localhost:${(server.address() as AddressInfo).port}`;
});

test.afterAll(() => void server.close());

test("an unchanged folder from the Hub loads; without a vocabulary the model works on ids", async ({
  browser,
}) => {
  const context = await browser.newContext({ serviceWorkers: "block" });
  const page = await context.newPage();
  await page.goto(`${origin}/some/where/?model=none`);
  const golden = JSON.parse(readFileSync(resolve(tinyModels, "prefixed-f16/golden.json"), "utf8")).greedy;
  const found = await page.evaluate(async ({ prompt, ids }: { prompt: number[]; ids: number[] }) => {
    const { loadModel } = (await import(new URL("gpt2.js", location.href).href)) as typeof Gpt2;
    const model = await loadModel("tiny/prefixed-f16/");
    const { tokens } = await model.complete(prompt, { temperature: 0, maxNewTokens: ids.length });
    const error = await model.complete("text").catch((caught: Error) => caught.message);
    return { ids: tokens.map((token) => token.id), error, hasTokenizer: model.info.hasTokenizer };
  }, golden);
  expect(found.ids).toEqual(golden.ids);
  expect(found.hasTokenizer).toBe(false);
  expect(found.error).toContain("vocab.json");
  await context.close();
});

test("a link to a text survives the reload that enables threads, and is followed once", async ({
  browser,
}) => {
  const context = await browser.newContext({ serviceWorkers: "allow" });
  const page = await context.newPage();
  const passage = { prompt: "The sea was", options: { maxNewTokens: 5, seed: 1 }, hash: "0".repeat(64) };
  const link = deflateRawSync(JSON.stringify(passage)).toString("base64url");
  await page.goto(`${origin}/some/where/#text=${link}`);
  await expect(page.locator("#finish")).toContainText("This is not the linked text", { timeout: 40_000 });
  await expect(page.locator("#engine")).toContainText("threads-relaxed"); // it was reloaded
  await expect(page.locator("#editor .cm-content")).toHaveText(/^The sea was.+/);
  await page.locator("#editor .cm-content").press("x");
  const text = await page.locator("#editor .cm-content").textContent();
  await page.reload();
  await expect(page.locator("#engine")).toContainText("threads-relaxed", { timeout: 30_000 });
  await expect(page.locator("#editor .cm-content")).toHaveText(text ?? "");
  await expect(page.locator("#finish")).toHaveText("");
  await context.close();
});

test("without service workers the page runs on one thread and says so", async ({ browser }) => {
  const context = await browser.newContext({ serviceWorkers: "block" });
  const page = await context.newPage();
  await page.goto(`${origin}/some/where/`);
  await expect(page.locator("#engine")).toContainText("simd-relaxed, 1 thread", { timeout: 30_000 });
  await expect(page.locator("#notice")).toContainText("cross-origin isolated");
  await context.close();
});
