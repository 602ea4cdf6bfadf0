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
        kv: "q8", // a load of its own
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

test("an edited text is scored from the first changed token on, with the same result as the whole", async ({
  page,
}) => {
  const found = await withModel(
    page,
    {},
    async (model, text) => {
      const { nPositions } = model.info.config;
      const told: number[] = [];
      const onProgress = ({ tokens }: { tokens: unknown[] }) => told.push(tokens.length);
      const sentence = await model.tokenize(` ${text}`);
      const long = Array.from({ length: 2 * nPositions }, (_, i) => sentence[i % sentence.length] ?? 0);
      const tails: { tail: Gpt2.Score; whole: Gpt2.Score; start: number; told: number }[] = [];
      for (const ids of [long.slice(0, nPositions - 40), long]) {
        await model.score(ids);
        const start = ids.length - 3;
        const edited = [...ids.slice(0, start), ...sentence.slice(0, 5)];
        told.length = 0;
        const tail = await model.score(edited, { start, onProgress });
        const sum = told.reduce((all, count) => all + count, 0);
        tails.push({ tail, whole: await model.score(edited), start, told: sum });
      }
      const ids = await model.tokenize(text);
      return { tails, none: await model.score(ids, { start: ids.length }) };
    },
    prompt,
  );
  for (const { tail, whole, start, told } of found.tails) {
    expect(tail.tokens).toEqual(whole.tokens.slice(start));
    expect(tail.tokens.length).toBe(5);
    expect(told).toBe(5);
    const sum = tail.tokens.reduce((all, { logprob }) => all + (logprob ?? NaN), 0);
    expect(tail.logprob).toBeCloseTo(sum, 9);
    expect(tail.perplexity).toBeCloseTo(Math.exp(-sum / 5), 9);
  }
  expect(found.none).toEqual({ tokens: [], logprob: 0, perplexity: null });
});

test("a signal aborts with its own reason, before and during a request", async ({ page }) => {
  const errors = await withModel(
    page,
    {},
    async (model, text) => {
      const caught: string[] = [];
      const attempt = (signal: AbortSignal) =>
        model
          .complete(text, { maxNewTokens: 4000, ignoreEos: true, signal })
          .catch((error: Error) => caught.push(`${error.name}: ${error.message}`));
      await attempt(AbortSignal.abort(new Error("before")));
      const controller = new AbortController();
      setTimeout(() => controller.abort(new Error("during")), 50);
      await attempt(controller.signal);
      return caught;
    },
    prompt,
  );
  expect(errors).toEqual(["Error: before", "Error: during"]);
});

test("a prompt that does not fit is cut and reported, or refused in strict mode", async ({ page }) => {
  const result = await withModel(
    page,
    {},
    async (model, text) => {
      const ids = await model.tokenize(text.repeat(60));
      const cut = await model.complete(ids, { maxNewTokens: 3 });
      const error = await model
        .complete(ids, { maxNewTokens: 3, strict: true })
        .catch((caught: Error & { code: string }) => caught);
      return {
        size: ids.length,
        capacity: model.info.config.nPositions,
        cut,
        code: (error as { code: string }).code,
        message: (error as Error).message,
      };
    },
    `${prompt} `,
  );
  expect(result.cut.droppedTokens).toBeGreaterThanOrEqual(result.size - result.capacity);
  expect(result.code).toBe("capacity");
  expect(result.message).toContain(
    `sequence longer than model capacity: ${result.size} prompt tokens and 3 new ones`,
  );
});

test("an edited prompt reuses the cached tokens that it shares with the last one", async ({ page }) => {
  const reused = await withModel(
    page,
    {},
    async (model, text) => {
      await model.complete(text, { maxNewTokens: 3 });
      return (await model.complete(`${text} a cat`, { maxNewTokens: 3 })).reusedTokens;
    },
    prompt,
  );
  expect(reused).toBeGreaterThan(5);
});

test("unknown options are errors, when generating and when loading", async ({ page }) => {
  const errors = await withModel(
    page,
    {},
    async (model, text) => {
      const { loadModel } = (await import(new URL("gpt2.js", location.href).href)) as typeof Gpt2;
      const name = (error: Error & { code?: string }) => `${error.name} ${error.code}: ${error.message}`;
      return [
        await model.complete(text, { top_p: 1 } as object).then(() => "", name),
        await loadModel("models/demo/", { thread: 2 } as object).then(() => "", name),
        await loadModel("models/demo/", { threads: 0 }).then(() => "", name),
      ];
    },
    prompt,
  );
  expect(errors[0]).toContain('InvalidArgumentError invalid-argument: unknown option "top_p"');
  expect(errors[1]).toContain('unknown option "thread"');
  expect(errors[2]).toContain("threads is 0, expected a whole number from 1 to 64");
});

test("disposing rejects the running requests", async ({ page }) => {
  const code = await withModel(
    page,
    {},
    async (model, text) => {
      const running = model
        .complete(text, { maxNewTokens: 4000, ignoreEos: true })
        .catch((error: { code: string }) => error.code);
      await model.dispose();
      return running;
    },
    prompt,
  );
  expect(code).toBe("disposed");
});

test("three continuations equal those that each seed gives alone", async ({ page }) => {
  const found = await withModel(
    page,
    {},
    async (model, text) => {
      const call = { maxNewTokens: 30, ignoreEos: true, seed: 11 };
      const together = await model.complete(text, { ...call, n: 3 });
      const streamed: number[] = [];
      for await (const token of model.generate(text, { ...call, n: 3, maxNewTokens: 2 }))
        streamed.push(token.index);
      const alone = [];
      for (const seed of [11, 12, 13]) alone.push((await model.complete(text, { ...call, seed })).text);
      return { together, streamed, alone };
    },
    prompt,
  );
  expect(found.together.continuations.map(({ text }) => text)).toEqual(found.alone);
  expect(found.together.continuations.map(({ seed }) => seed)).toEqual([11, 12, 13]);
  expect(found.together.finishReasons).toEqual(["length", "length", "length"]);
  expect(found.together.text).toBe(found.alone[0]);
  expect(found.streamed).toEqual([0, 1, 2, 0, 1, 2]);
});

test("lookup gives the same text, and guesses tokens if the text repeats itself", async ({ page }) => {
  const found = await withModel(
    page,
    {},
    async (model) => {
      const song = "Sing a song. Sing a song. Sing a song. Sing a song. Sing a song. Sing a";
      const sampling = { temperature: 0.3, topP: 0.95, repetitionPenalty: 1, seed: 12 };
      const call = { maxNewTokens: 60, ignoreEos: true, ...sampling };
      return [
        await model.complete(song, call),
        await model.complete(song, { ...call, lookup: false }),
      ] as const;
    },
    undefined,
  );
  expect(found[0].text).toBe(found[1].text);
  expect(found[0].timings.acceptedTokens).toBeGreaterThan(3);
  expect(found[1].timings.draftedTokens).toBe(0);
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
  expect(Object.values(measured)).toEqual([{ threads: first.threads }]); // how fast they are is learnt from a longer text
  // What is remembered is believed, within what the machine has.
  await page.evaluate(([name, text]) => localStorage.setItem(name, text), [
    key,
    stored.replace(/"threads":\d+/, '"threads":1'),
  ] as const);
  expect((await load()).threads).toBe(1);
  await page.evaluate((name) => localStorage.setItem(name, "{broken"), key);
  expect((await load()).threads).toBeGreaterThanOrEqual(1);
});
