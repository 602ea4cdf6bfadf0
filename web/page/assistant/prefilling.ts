// While one types, the model reads along: what is asked for next costs a step, not the whole text.
import { StateEffect, type Extension } from "@codemirror/state";
import { EditorView } from "@codemirror/view";
import type { Model } from "../../src/client/index.js";

/** Pause after which it reads: shorter than any between words, longer than most between letters. */
const pauseMs = 150;

/** The model was asked for something else, for which it forgot what it had read. */
export const readAgain = StateEffect.define();

export interface PrefillingSetting {
  /** The model, where there is one already and it is not at work. */
  idleModel: () => Promise<Model | undefined> | undefined;
}

/** Reads the text to the caret after each pause and each `readAgain`, and drops that at the next change. */
export function prefilling({ idleModel }: PrefillingSetting): Extension {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let reading: AbortController | undefined;

  async function read({ state }: EditorView): Promise<void> {
    const { signal } = (reading = new AbortController());
    try {
      const model = await idleModel();
      const text = state.sliceDoc(0, state.selection.main.to);
      if (model?.info.hasTokenizer && text !== "") await model.prefill(text, { signal });
    } catch {
      // Nobody asked for it; who asks for a text is told what is wrong.
    }
  }

  return EditorView.updateListener.of(({ docChanged, selectionSet, transactions, view }) => {
    const isForgotten = transactions.some(({ effects }) => effects.some((effect) => effect.is(readAgain)));
    if (!docChanged && !selectionSet && !isForgotten) return;
    clearTimeout(timer);
    reading?.abort();
    timer = setTimeout(() => void read(view), pauseMs);
  });
}
