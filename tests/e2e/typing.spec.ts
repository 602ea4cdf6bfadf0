// The requests that an editor makes: prefill during typing, and inspection for Inside.
import { expect, test } from "@playwright/test";
import { withModel } from "./model.js";

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
      return { plain, first, second, prefilled };
    },
    undefined,
  );
  const { plain, first, second, prefilled } = found;
  expect(first).toMatchObject({ reusedTokens: 0, cachedTokens: first.promptTokens - 1 });
  expect(second.reusedTokens).toBe(first.promptTokens - 1);
  expect(prefilled.reusedTokens).toBe(plain.promptTokens - 1);
  expect(prefilled.tokens).toEqual(plain.tokens);
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
