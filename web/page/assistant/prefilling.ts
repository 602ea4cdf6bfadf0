// Prefills the text up to the caret while the visitor types, so that the next request costs one step and not the whole text.
import { StateEffect, type Extension } from "@codemirror/state";
import { ViewPlugin, type ViewUpdate } from "@codemirror/view";
import { writingPlace } from "../document/writing-place.js";
import type { ContextFields } from "../state/context-fields.js";
import { promptOf } from "./compose.js";
import type { RequestQueue } from "./request-queue.js";
import { withSpecialTokens } from "./special-tokens.js";

/** Shorter than most pauses between words, longer than most between letters. */
const pauseMs = 150;

/** Another request replaced the model's cache, so the text must be prefilled again. */
export const prefillAgain = StateEffect.define();

/**
 * Prefills after each change of the text or the caret, and after each `prefillAgain`, with the `fields` that are set; the next
 * change aborts it. Nothing is prefilled while `isChanged`: a model with changes has another cache.
 */
export function prefilling(
  queue: RequestQueue,
  fields: () => ContextFields | undefined,
  isChanged: () => boolean,
): Extension {
  return ViewPlugin.define(() => {
    // Errors are shown when the visitor requests a text.
    const request = queue.requests("prefill", () => {});
    return {
      update({ docChanged, selectionSet, transactions, view }: ViewUpdate) {
        const isLost = transactions.some(({ effects }) => effects.some((effect) => effect.is(prefillAgain)));
        if (!docChanged && !selectionSet && !isLost) return;
        request.schedule(
          pauseMs,
          async (model, signal) => {
            const text = view.state.sliceDoc(0, writingPlace(view.state));
            if (!model.info.hasTokenizer || text === "" || isChanged()) return;
            const prompt = await promptOf(model, text, fields(), signal);
            await model.prefill(prompt, { ...withSpecialTokens, signal });
          },
          () => request.stop(), // the model then prefills the text anyway
        );
      },
      destroy: () => request.stop(),
    };
  });
}
