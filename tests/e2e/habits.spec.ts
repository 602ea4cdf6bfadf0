// Features that developers know from other libraries: private models, custom workers, streams, `await using`.
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { expect, test, type Page } from "@playwright/test";
import type * as OpenAi from "../../web/src/openai/index.js";
import { demo, inPage, native, prompt } from "./model.js";

/** What the native engine writes after the prompt: five tokens. */
const nativeText = (): string =>
  native("generate", demo, "--prompt", prompt, "--json", "--max-new-tokens", "5", "--seed", "1").text;

/** The demo model under another name, for requests with the right header. Returns the requests, with their cookies. */
async function servePrivately(page: Page): Promise<{ file: string; cookie: string | undefined }[]> {
  const asked: { file: string; cookie: string | undefined }[] = [];
  await page.route("**/models/private/*", async (route) => {
    const file = new URL(route.request().url()).pathname.split("/").pop() ?? "";
    const { authorization, cookie } = await route.request().allHeaders();
    asked.push({ file, cookie });
    const path = resolve(demo, file);
    if (authorization !== "Bearer sesame") return route.fulfill({ status: 401 });
    return existsSync(path) ? route.fulfill({ path }) : route.fulfill({ status: 404 });
  });
  return asked;
}

test("a private model loads with its headers; without them the error names the file", async ({ page }) => {
  const asked = await servePrivately(page);
  await page.goto("./?model=none");
  await page.evaluate(() => void (document.cookie = "session=1; path=/"));
  const found = await inPage(
    page,
    async ({ loadModel }, text) => {
      const refusal = await loadModel("models/private/", { variant: "simd" }).catch(
        (error: Error & { code: string }) => `${error.code}: ${error.message}`,
      );
      const headers = { Authorization: "Bearer sesame" };
      const model = await loadModel("models/private/", { variant: "simd", headers, credentials: "omit" });
      const { text: written } = await model.complete(text, { maxNewTokens: 5, seed: 1 });
      await model.dispose();
      return { refusal, written };
    },
    prompt,
  );
  expect(found.refusal).toMatch(
    /^network: cannot fetch http:.*\/models\/private\/\S+: the host answered 401/,
  );
  expect(found.written).toBe(nativeText());
  const pieces = asked.filter(({ file }) => file.startsWith("model.safetensors"));
  expect(pieces.length).toBe(4);
  for (const { cookie } of pieces) expect(cookie).toBeUndefined();
});

test("a custom fetch loads every file", async ({ page }) => {
  await servePrivately(page);
  await page.goto("./?model=none");
  const found = await inPage(
    page,
    async ({ loadModel }, text) => {
      const names: string[] = [];
      /** The files lie elsewhere, and the bytes pass through a stream of the page. */
      const elsewhere: typeof fetch = async (url, init) => {
        const name = new URL(url instanceof Request ? url.url : url).pathname.split("/").pop() ?? "";
        names.push(name);
        const response = await fetch(new URL(`models/private/${name}`, location.href), init);
        return new Response(response.body?.pipeThrough(new TransformStream()) ?? null, response);
      };
      const headers = { Authorization: "Bearer sesame" };
      const progress: number[] = [];
      const model = await loadModel("nowhere/", {
        variant: "simd",
        fetch: elsewhere,
        headers,
        onProgress: ({ loadedBytes }) => progress.push(loadedBytes),
      });
      const { text: written } = await model.complete(text, { maxNewTokens: 5, seed: 1 });
      await model.dispose();
      return { names, written, progress };
    },
    prompt,
  );
  expect(found.names).toEqual(expect.arrayContaining(["config.json", "vocab.json", "model.safetensors.003"]));
  expect(new Set(found.names).size).toBe(9);
  expect(found.written).toBe(nativeText());
  expect(found.progress.at(-1)).toBeGreaterThan(1e6);
});

test("a custom module worker loads and writes, with threads if the page has them", async ({ page }) => {
  await page.route("**/own/worker.js", (route) =>
    route.fulfill({
      contentType: "text/javascript",
      headers: { "cross-origin-embedder-policy": "require-corp" },
      body: `import { loadModel } from "../gpt2.js";
        const say = (value) => postMessage(value);
        loadModel("../models/demo/", { threads: 2 })
          .then(async (model) => {
            const { text } = await model.complete(${JSON.stringify(prompt)}, { maxNewTokens: 5, seed: 1 });
            say({ text, threads: model.info.threads });
          })
          .catch((error) => say({ error: String(error) }));`,
    }),
  );
  await page.goto("./?model=none");
  const found = await page.evaluate(
    () =>
      new Promise((resolve) => {
        const worker = new Worker(new URL("own/worker.js", location.href), { type: "module" });
        worker.onmessage = ({ data }) => resolve(data);
        worker.onerror = ({ message }) => resolve(message);
      }),
  );
  expect(found).toEqual({ text: nativeText(), threads: 2 });
});

test("code written for a completions server works with the local model", async ({ page }) => {
  await page.goto("./?model=none");
  const found = await inPage(
    page,
    async ({ loadModel }, text) => {
      const { completions } = (await import(new URL("gpt2-openai.js", location.href).href)) as typeof OpenAi;
      const model = await loadModel("models/demo/", { variant: "simd" });
      const client = completions(model);
      const request = { model: "gpt2", prompt: text, max_tokens: 12, seed: 3, logprobs: 2 };
      const whole = await client.create(request);
      const parts: string[] = [];
      for await (const chunk of await client.create({ ...request, stream: true }))
        parts.push(chunk.choices[0]?.text ?? "");
      const scored = await client.create({ ...request, echo: true, max_tokens: 0 });
      const { text: direct } = await model.complete(text, {
        maxNewTokens: 12,
        seed: 3,
        temperature: 1,
        topK: 0,
        topP: 1,
        repetitionPenalty: 1,
      });
      const { tokens } = await model.score(text);
      await model.dispose();
      return { whole, parts, scored, direct, tokens };
    },
    prompt,
  );
  const [choice] = found.whole.choices;
  expect(choice?.text).toBe(found.direct);
  expect(found.parts.join("")).toBe(found.direct);
  expect(choice?.logprobs?.tokens.join("")).toBe(found.direct);
  expect(choice?.logprobs?.text_offset[0]).toBe(prompt.length);
  expect(found.whole.usage.completion_tokens).toBe(12);
  const [scored] = found.scored.choices;
  expect(scored?.text).toBe(prompt);
  expect(scored?.logprobs?.token_logprobs).toEqual(found.tokens.map(({ logprob }) => logprob));
});
