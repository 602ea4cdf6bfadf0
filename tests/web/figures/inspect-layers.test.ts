// The requests for an inspection of a model, and their order.
import { expect, it } from "vitest";
import type { Inspection, Model, ModelInfo } from "../../../web/src/client/index.js";
import { inspectLayers } from "../../../web/src/figures/inspect-layers.js";

function make(nLayer: number, abortAt = Infinity) {
  const controller = new AbortController();
  const asked: unknown[] = [];
  const model = {
    info: { config: { nLayer } } as ModelInfo,
    inspect: async (_: unknown, { layer, top, onProgress }: Parameters<Model["inspect"]>[1] = {}) => {
      asked.push([layer, top]);
      onProgress?.({ done: 1, total: 3 });
      if (asked.length === abortAt) controller.abort();
      return { guesses: [[]], attention: Float32Array.of(layer ?? 0) } as unknown as Inspection;
    },
  };
  const events: unknown[] = [];
  const look = (ids: number[], layer: number) =>
    inspectLayers(model, ids, layer, controller.signal, {
      onRead: ({ done, total }) => events.push(`read ${done} of ${total}`),
      onGuesses: () => events.push("guesses"),
      onAttention: (each, attention) => events.push([each, attention[0]]),
    });
  return { look, asked, events };
}

it("inspectLayers computes the requested layer first, and the guesses once", async () => {
  const { look, asked, events } = make(4);
  await look([5, 6, 7], 2);
  expect(asked.join(" ")).toBe("2,5 0,0 1,0 3,0");
  expect(events).toEqual(["read 1 of 3", "guesses", [2, 2], [0, 0], [1, 1], [3, 3]]);
});

it("inspectLayers reports nothing after an abort", async () => {
  const { look, asked, events } = make(4, 2);
  await expect(look([5, 6], 0)).rejects.toMatchObject({ name: "AbortError" });
  expect(asked.length).toBe(2);
  expect(events).toEqual(["read 1 of 3", "guesses", [0, 0]]);
});
