// The ES module, used as an embedder uses it, and against the native engine.
import { expect, test } from "@playwright/test";
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
