// What an editor needs of the model. It needs words that continue where the text stops, prefill during typing, and the
// score of each token.
import { expect, test } from "@playwright/test";
import { demo, native, withModel } from "./model.js";

const texts = [
  "Once upon a ti",
  "One day, a little girl named Lily found a ",
  "She was hap",
  "The dog'",
  "naïv",
];

test("heal continues a word in its middle as a brute force over the vocabulary does", async ({ page }) => {
  const found = await withModel(
    page,
    { threads: 2, kv: "f32" },
    async (model, prompts) => {
      const ids = Array.from({ length: model.info.config.vocabSize }, (_, id) => id);
      const vocabulary = await Promise.all(ids.map((id) => model.detokenize([id])));
      return Promise.all(
        prompts.map(async (prompt) => {
          const options = { maxNewTokens: 8, temperature: 0, heal: true };
          const written = await model.complete(prompt, options);
          const given = await model.tokenize(prompt);
          const kept = given.slice(0, given.length - written.healedTokens);
          const bytes = await model.detokenize(given.slice(kept.length));
          // Of all tokens of the vocabulary that may be first the one that the model finds likeliest after what was kept.
          const mayBeNext = (id: number) => {
            const text = vocabulary[id] ?? "";
            const goesOn = text.startsWith(bytes) || bytes.startsWith(text);
            return text !== "" && text !== "<|endoftext|>" && goesOn;
          };
          const plain = { maxNewTokens: 1, temperature: 0, logprobs: 100 };
          const likeliest = (await model.complete(kept, plain)).tokens[0]?.top ?? [];
          let best = likeliest.find(({ id }) => mayBeNext(id)) ?? { id: -1, text: "", logprob: -Infinity };
          for (const id of best.id < 0 ? ids.filter(mayBeNext) : []) {
            const logprob = (await model.score([...kept, id])).tokens.at(-1)?.logprob ?? -Infinity;
            if (logprob > best.logprob) best = { id, text: "", logprob };
          }
          const whole = await model.detokenize([...kept, ...written.tokens.map(({ id }) => id)]);
          return { ...written, best, bytes, whole };
        }),
      );
    },
    texts,
  );
  for (const [i, { text, tokens, healedTokens, best, whole }] of found.entries()) {
    expect(healedTokens, texts[i]).toBeGreaterThan(0);
    expect(tokens[0]?.id, texts[i]).toBe(best.id);
    expect(whole).toBe(`${texts[i]}${text}`);
    const options = ["--heal", "--temperature", "0", "--max-new-tokens", "8", "--kv", "f32", "--json"];
    const expected = native("generate", demo, "--prompt", texts[i] ?? "", ...options);
    expect(tokens.map(({ id }) => id)).toEqual(expected.ids);
    expect(text).toBe(expected.text);
  }
});

test("a text that was prefilled while typed costs one step, with the same result", async ({ page }) => {
  const found = await withModel(
    page,
    { threads: 2 },
    async (model) => {
      const text = "Once upon a time there was a little girl who lived in a house by the sea with her mother";
      const typed = `${text} and her dog`;
      const call = { maxNewTokens: 12, temperature: 0, logprobs: 2 };
      const plain = await model.complete(typed, call);
      await model.complete("Something else", { maxNewTokens: 1 });
      const first = await model.prefill(text);
      const second = await model.prefill(typed);
      const prefilled = await model.complete(typed, call);
      // One that is given up at once, and one that a generation overtakes.
      await model.complete("Something else", { maxNewTokens: 1 });
      const abort = new AbortController();
      const dropped = model.prefill(typed, { signal: abort.signal }).catch((error: Error) => error.name);
      abort.abort();
      const [overtaken, again] = await Promise.all([model.prefill(typed), model.complete(typed, call)]);
      return { plain, first, second, prefilled, dropped: await dropped, overtaken, again };
    },
    undefined,
  );
  const { plain, first, second, prefilled } = found;
  expect(first).toMatchObject({ reusedTokens: 0, cachedTokens: first.promptTokens - 1 });
  expect(second.reusedTokens).toBe(first.promptTokens - 1);
  expect(prefilled.reusedTokens).toBe(plain.promptTokens - 1);
  expect(prefilled.tokens).toEqual(plain.tokens);
  expect(found.dropped).toBe("AbortError");
  expect(found.overtaken.cachedTokens).toBeLessThan(plain.promptTokens - 1);
  expect(found.again.tokens).toEqual(plain.tokens);
});

for (const variant of ["threads-relaxed", "simd"] as const) {
  test(`in ${variant}, inspect's last layer predicts what is drawn, and the attention of each head sums to one`, async ({
    page,
  }) => {
    const found = await withModel(
      page,
      { variant },
      async (model) => {
        const text = "Once upon a time, there was a little";
        const ids = await model.tokenize(text);
        const { tokens } = await model.complete(text, { maxNewTokens: 1, temperature: 0, logprobs: 7 });
        const inside = await model.inspect(text, { layer: 0, top: 7 });
        const head = await model.inspect(text, { layer: 0, head: 2 });
        const earlier = await model.inspect(text, { position: 3 });
        const rows = Array.from({ length: inside.heads }, (_, i) =>
          Array.from(inside.attention.slice(i * ids.length, (i + 1) * ids.length)),
        );
        return {
          ids,
          inside: { ...inside, attention: inside.attention instanceof Float32Array },
          rows,
          head: { ...head, attention: Array.from(head.attention) },
          earlier: { ...earlier, attention: earlier.attention.length },
          top: tokens[0]?.top,
          config: model.info.config,
        };
      },
      undefined,
    );
    const { ids, inside, rows, head, earlier, config } = found;
    expect(inside).toMatchObject({ ids, layer: 0, heads: config.nHead, attention: true });
    expect(inside.guesses).toHaveLength(config.nLayer + 1);
    expect(inside.guesses.at(-1)).toEqual(found.top); // to the last bit
    expect(inside.guesses[0]).not.toEqual(found.top);
    for (const row of rows) {
      expect(row).toHaveLength(ids.length);
      expect(row.reduce((sum, share) => sum + share, 0)).toBeCloseTo(1, 5);
    }
    expect(head).toMatchObject({ heads: 1, attention: rows[2] });
    expect(earlier).toMatchObject({
      ids: ids.slice(0, 4),
      layer: config.nLayer - 1,
      attention: 4 * config.nHead,
    });
  });
}
