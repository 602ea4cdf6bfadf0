// The model with the changes of the view Inside.
import { expect, it, vi } from "vitest";
import { changedModel } from "../../../web/page/assistant/changed-model.js";
import type { Model } from "../../../web/src/client/index.js";
import { makeState } from "../support/page-part.js";

const off = { at: "blocks.0.mlp_out", set: 0 };
const traffic = { network: 0, cache: 0 };

it("changes reach what the model writes and scores, and end with the model", () => {
  const state = makeState();
  const current = changedModel(state);
  const model = { info: {}, generate: vi.fn(), complete: vi.fn(), score: vi.fn(), inspect: vi.fn() };
  const load = () => {
    state.model.value = { kind: "ready", model: { ...model } as unknown as Model, traffic };
  };
  state.change.value = [off]; // a link can set them before the model is there
  load();
  expect(state.change.value).toEqual([off]);
  const changed = current.value;
  expect(changed?.info).toBe(model.info);
  changed?.generate("a", { seed: 1 });
  void changed?.complete("a");
  void changed?.score("a", { start: 2 });
  void changed?.inspect("a", { top: 1 });
  expect(model.generate).toHaveBeenCalledWith("a", { seed: 1, change: [off] });
  expect(model.complete).toHaveBeenCalledWith("a", { change: [off] });
  expect(model.score).toHaveBeenCalledWith("a", { start: 2, change: [off] });
  expect(model.inspect).toHaveBeenCalledWith("a", { top: 1 });
  expect(current.value).toBe(changed); // the scores of the text are kept for this very object

  load();
  expect(state.change.value).toEqual([]);
  expect(current.value).toBe(state.loaded.value);
});
