// The ES module, used as an embedder uses it, and against the native engine.
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { expect, test, type Page } from "@playwright/test";
import { variants } from "../../web/src/shared/types.js";
import { demo, inPage, native, prompt, withModel } from "./model.js";

for (const variant of variants) {
  test(`${variant} writes the native engine's tokens with bit-identical log-probabilities`, async ({
    page,
  }) => {
    const call = {
      ...{ maxNewTokens: 60, temperature: 1, topK: 50, topP: 0.98, seed: 1234 },
      ...{ ignoreEos: true, logprobs: 50 },
    };
    const expected = native(
      ...["generate", demo, "--prompt", prompt, "--json", "--max-new-tokens", "60", "--temperature", "1"],
      ...["--top-k", "50", "--top-p", "0.98", "--seed", "1234", "--ignore-eos"],
    );
    const found = await withModel(
      page,
      { variant },
      async (model, { text, options }) => {
        const { tokens } = await model.complete(text, options);
        return {
          info: model.info,
          ids: tokens.map(({ id }) => id),
          logprobs: tokens.map(({ logprob }) => logprob),
          alternatives: tokens.map(({ id, top }) => top?.find((other) => other.id === id)?.logprob),
        };
      },
      { text: prompt, options: call },
    );
    expect(found.info.variant).toBe(variant);
    expect(found.info.simd).toMatch(variant.endsWith("relaxed") ? /^relaxed(-pairs)?$/ : /^simd128$/);
    expect(found.ids).toEqual(expected.ids);
    expect(found.logprobs).toHaveLength(60);
    expect(found.logprobs).toEqual(expected.logprobs); // to the last bit: the text of a float is exact
    expect(found.alternatives).toEqual(expected.logprobs); // of 50, as the token is one of topK
  });
}

test("the thread count is measured once, after the first text, and stored", async ({ page }) => {
  await page.goto("./?model=none");
  await page.evaluate(() => localStorage.clear());
  const found = await inPage(
    page,
    async ({ loadModel }) => {
      const model = await loadModel("models/demo/");
      const before = { threads: model.info.threads, stored: localStorage.length };
      await model.complete("Once", { maxNewTokens: 2 });
      return { before, cores: navigator.hardwareConcurrency };
    },
    undefined,
  );
  expect(found.before).toEqual({ threads: found.cores, stored: 0 }); // the first token waits for no measurement
  await expect.poll(() => page.evaluate(() => localStorage.length)).toBe(1);
  const threads = await inPage(
    page,
    async ({ loadModel }) => {
      const [[key, stored] = ["", ""]] = Object.entries<string>(localStorage);
      localStorage.setItem(key, stored.replace(/"threads":\d+/, '"threads":1'));
      const model = await loadModel("models/demo/", { kv: "f32" }); // in another worker
      await model.dispose();
      return model.info.threads;
    },
    undefined,
  );
  expect(threads).toBe(1);
});

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
  expect(pieces.length).toBe(2);
  for (const { cookie } of pieces) expect(cookie).toBeUndefined();
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

test("changes inside the model stay in their own requests, also when these are interleaved or aborted", async ({
  page,
}) => {
  const found = await withModel(
    page,
    {},
    async (model, text) => {
      const change = [{ at: "blocks.*.attn.z", head: 1, set: 0 }];
      const call = { temperature: 0, maxNewTokens: 12, ignoreEos: true };
      const write = async (more = {}) => (await model.complete(text, { ...call, ...more })).text;
      const plain = await write();
      const changed = await write({ change });
      const both = { plain: "", changed: "" };
      const one = model.generate(text, call);
      const other = model.generate(text, { ...call, change });
      for (;;) {
        const [first, second] = [await one.next(), await other.next()];
        if (first.done || second.done) break;
        both.plain += first.value.text;
        both.changed += second.value.text;
      }
      const controller = new AbortController();
      const aborted = write({ change, maxNewTokens: 200, signal: controller.signal }).catch(
        (error: unknown) => (error as Error).name,
      );
      controller.abort();
      const { captured, ids } = await model.inspect(text, { capture: ["blocks.2.attn.pattern"], change });
      const pattern = captured["blocks.2.attn.pattern"];
      const map = await model.patchMap(text, "Lily had a dog. Lily loved her", {
        token: " cat",
        against: " dog",
      });
      const result = {
        plain,
        changed,
        both,
        aborted: await aborted,
        after: await write(),
        shape: pattern?.shape,
        firstRow: [...(pattern?.data.subarray(0, 2) ?? [])],
        ids: ids.length,
        isClean: Math.abs((map.map.at(-1) ?? 0) - map.clean) < 1e-3,
      };
      return result;
    },
    "Lily had a cat. Lily loved her",
  );
  expect(found.changed).not.toBe(found.plain);
  expect(found.both).toEqual({ plain: found.plain, changed: found.changed });
  expect(found.aborted).toBe("AbortError");
  expect(found.after).toBe(found.plain);
  expect(found.shape).toEqual([6, found.ids, found.ids]);
  expect(found.firstRow).toEqual([1, 0]);
  expect(found.isClean).toBe(true); // the last place of all has the whole answer
});
