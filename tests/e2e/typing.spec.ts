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

test("inspect's last layer predicts what is drawn, and the attention of each head sums to one", async ({
  page,
}) => {
  const found = await withModel(
    page,
    { variant: "simd" },
    async (model) => {
      const text = "Once upon a time, there was a little";
      const ids = await model.tokenize(text);
      const { tokens } = await model.complete(text, { maxNewTokens: 1, temperature: 0, logprobs: 7 });
      const { guesses, attention, heads } = await model.inspect(text, { layer: 0, top: 7 });
      const rows = Array.from({ length: heads }, (_, head) =>
        Array.from(attention.slice(head * ids.length, (head + 1) * ids.length)),
      );
      return { ids, guesses, rows, top: tokens[0]?.top, config: model.info.config };
    },
    undefined,
  );
  const { ids, guesses, rows, top, config } = found;
  expect(guesses).toHaveLength(config.nLayer + 1);
  expect(guesses.at(-1)).toEqual(top); // to the last bit
  expect(guesses[0]).not.toEqual(top);
  expect(rows).toHaveLength(config.nHead);
  for (const row of rows) {
    expect(row).toHaveLength(ids.length);
    expect(row.reduce((sum, share) => sum + share, 0)).toBeCloseTo(1, 5);
  }
});
