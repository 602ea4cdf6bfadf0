// The model as the visitor has changed it in the view Inside.
import { computed, type ReadonlySignal } from "@preact/signals-core";
import type { Change, Model } from "../../src/client/index.js";
import { onChange, type PageState } from "../state/page-state.js";

/** `model` with `change` in what it writes and scores. `inspect` stays unchanged, for comparisons. */
function withChange(model: Model, change: readonly Change[]): Model {
  if (change.length === 0) return model;
  const changed: Pick<Model, "generate" | "complete" | "score"> = {
    generate: (prompt, call) => model.generate(prompt, { ...call, change }),
    complete: (prompt, call) => model.complete(prompt, { ...call, change }),
    score: (text, options) => model.score(text, { ...options, change }),
  };
  return Object.assign(Object.create(model) as Model, changed);
}

/** The loaded model with the changes, which end when another one is loaded: it may lack their parts. */
export function changedModel(state: PageState): ReadonlySignal<Model | undefined> {
  let hadModel = state.loaded.peek() !== undefined;
  onChange(state.loaded, (model) => {
    if (model && hadModel) state.change.value = [];
    hadModel ||= model !== undefined;
  });
  return computed(() => state.loaded.value && withChange(state.loaded.value, state.change.value));
}
