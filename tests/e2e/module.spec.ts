// The ES module, used as an embedder uses it, and against the native engine.
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { expect, test } from "@playwright/test";
import type * as Gpt2 from "../../web/src/client/index.js";
import { demo, native, prompt, root, withModel } from "./model.js";

test("a prompt passed to the load is prefilled, and the text stays the same", async ({ page }) => {
  const found = await withModel(
    page,
    { threads: 2 },
    async (plain, text) => {
      const { loadModel } = (await import(new URL("gpt2.js", location.href).href)) as typeof Gpt2;
      const layers: [number, number][] = [];
      const early = await loadModel("models/demo/", {
        threads: 2,
        kv: "q8", // so that it is loaded separately
        prompt: text,
        onProgress: ({ layer }) => layer && layers.push([layer.done, layer.total]),
      });
      const options = { maxNewTokens: 20, temperature: 0, logprobs: 3 };
      const [expected, given] = [await plain.complete(text, options), await early.complete(text, options)];
      const { nLayer } = early.info.config;
      await early.dispose();
      return { expected, given, layers, nLayer };
    },
    prompt,
  );
  expect(found.given.tokens).toEqual(found.expected.tokens);
  expect(found.expected.reusedTokens).toBe(0);
  expect(found.given.reusedTokens).toBe(found.given.promptTokens - 1);
  expect(found.layers.at(-1)).toEqual([found.nLayer, found.nLayer]);
});

for (const variant of ["threads-relaxed", "threads", "simd-relaxed", "simd"] as const) {
  test(`${variant} writes the native engine's tokens with bit-identical log-probabilities`, async ({
    page,
  }) => {
    const options = {
      maxNewTokens: 60,
      temperature: 1,
      topK: 50,
      topP: 0.98,
      seed: 1234,
      ignoreEos: true,
      logprobs: 50,
    };
    const expected = native(
      "generate",
      demo,
      "--prompt",
      prompt,
      "--json",
      "--max-new-tokens",
      "60",
      "--temperature",
      "1",
      "--top-k",
      "50",
      "--top-p",
      "0.98",
      "--seed",
      "1234",
      "--ignore-eos",
    );
    const found = await withModel(
      page,
      { variant },
      async (model, { text, call }) => {
        const { tokens } = await model.complete(text, call);
        return {
          info: model.info,
          ids: tokens.map(({ id }) => id),
          logprobs: tokens.map(({ logprob }) => logprob),
          alternatives: tokens.map(({ id, top }) => top?.find((other) => other.id === id)?.logprob),
        };
      },
      { text: prompt, call: options },
    );
    expect(found.info.variant).toBe(variant);
    expect(found.info.simd).toMatch(variant.endsWith("relaxed") ? /^relaxed(-pairs)?$/ : /^simd128$/);
    expect(found.ids).toEqual(expected.ids);
    expect(found.logprobs).toHaveLength(60);
    expect(found.logprobs).toEqual(expected.logprobs); // to the last bit: the text of a float is exact
    expect(found.alternatives).toEqual(expected.logprobs); // of 50, as the token is one of topK
  });
}

for (const variant of ["threads-relaxed", "threads"] as const) {
  test(`4-bit weights give the native engine's tokens and log-probabilities in ${variant}`, async ({
    page,
  }) => {
    const folder = resolve(root, "build/e2e/tied-q4");
    native(
      "convert",
      resolve(root, "tests/data/tiny-models/tied"),
      folder,
      "--weights",
      "q4",
      "--force",
      "--json",
    );
    await page.route("**/models/tied-q4/*", (route) => {
      const path = resolve(folder, new URL(route.request().url()).pathname.split("/").pop() ?? "");
      return existsSync(path) ? route.fulfill({ path }) : route.fulfill({ status: 404 });
    });
    const ids = [1, 2, 3, 5, 8, 13, 21, 34, 55, 89];
    const call = { maxNewTokens: 30, temperature: 1, topK: 0, topP: 1, seed: 5 };
    const found = await withModel(
      page,
      { variant },
      async (model, argument) => ({
        info: model.info,
        tokens: (await model.complete(argument.ids, argument.call)).tokens,
      }),
      { ids, call },
      "models/tied-q4/",
    );
    expect(found.info.weights).toBe("q4");
    const args = [
      "--max-new-tokens",
      "30",
      "--temperature",
      "1",
      "--top-k",
      "0",
      "--top-p",
      "1",
      "--seed",
      "5",
    ];
    const expected = native("generate", folder, "--ids", ids.join(), "--json", ...args);
    expect(found.tokens.map((token) => token.id)).toEqual(expected.ids);
    expect(found.tokens.map((token) => token.logprob)).toEqual(expected.logprobs);
  });
}

test("the module tokenizes, detokenizes and scores as the native engine does", async ({ page }) => {
  const result = await withModel(
    page,
    {},
    async (model, text) => {
      const ids = await model.tokenize(text);
      return { ids, back: await model.detokenize(ids), score: await model.score(text) };
    },
    prompt,
  );
  expect(result.back).toBe(prompt);
  expect(result.score.tokens.map((token) => token.id)).toEqual(result.ids);
  const sum = result.score.tokens.reduce((total, token) => total + (token.logprob ?? 0), 0);
  expect(result.score.logprob).toBeCloseTo(sum, 4);
  expect(result.score.perplexity).toBeCloseTo(Math.exp(-sum / (result.ids.length - 1)), 3);
});

test("the thread count is measured once, after the first text, and stored", async ({ page }) => {
  const load = () =>
    page.evaluate(async () => {
      const { loadModel } = (await import(new URL("gpt2.js", location.href).href)) as typeof Gpt2;
      const model = await loadModel("models/demo/");
      const stored = () => Object.fromEntries(Object.entries<string>(localStorage));
      const before = { threads: model.info.threads, stored: stored() };
      await model.complete("Once", { maxNewTokens: 2 });
      for (const until = Date.now() + 20_000; localStorage.length === 0 && Date.now() < until;) {
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
      await model.dispose();
      return { before, threads: model.info.threads, cores: navigator.hardwareConcurrency, stored: stored() };
    });
  await page.goto("./?model=none");
  await page.evaluate(() => localStorage.clear());
  const first = await load();
  expect(first.before).toEqual({ threads: first.cores, stored: {} }); // the first token waits for no measurement
  expect(first.threads).toBeGreaterThanOrEqual(1);
  expect(first.threads).toBeLessThanOrEqual(first.cores);
  const [[key, stored] = ["", ""]] = Object.entries(first.stored);
  const { browser, ...measured } = JSON.parse(stored) as Record<string, unknown>;
  expect(browser).toBe(await page.evaluate(() => navigator.userAgent));
  expect(Object.values(measured)).toEqual([{ threads: first.threads }]); // their speed is measured during a longer text
  // A stored number of threads is used, up to the machine's number of cores.
  await page.evaluate(([name, text]) => localStorage.setItem(name, text), [
    key,
    stored.replace(/"threads":\d+/, '"threads":1'),
  ] as const);
  expect((await load()).threads).toBe(1);
  await page.evaluate((name) => localStorage.setItem(name, "{broken"), key);
  expect((await load()).threads).toBeGreaterThanOrEqual(1);
});
