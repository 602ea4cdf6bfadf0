// Which token's details are shown: the one that was pressed, or that the caret was moved to by keys.
import { StateEffect, StateField, type EditorState, type Range, type Transaction } from "@codemirror/state";
import { scoredField, tokenAt, type Scored } from "../../document/scored.js";
import { modeField, setMode } from "../../document/view-mode.js";

/** The token that this offset is in, or right behind. */
interface Told {
  readonly offset: number;
  /** A press sets the caret beside the token, which changes nothing. */
  readonly isPressed: boolean;
}

/** Shows the token that stands before an offset because it was pressed; null: shows none. */
export const tell = StateEffect.define<number | null>();

/** Views whose tokens are told wherever the caret goes. The text alone shows only what is pressed. */
const followsCaret = (state: EditorState) => !["text", "inside"].includes(state.field(modeField));

function ofSelection(told: Told | null, transaction: Transaction): Told | null {
  const { state } = transaction;
  const { head, empty } = state.selection.main;
  if (transaction.isUserEvent("select.pointer")) return told; // the press itself says which
  const isByKeys = transaction.isUserEvent("select");
  const token = told?.isPressed && !isByKeys ? toldToken(state, told) : undefined;
  if (token && head >= token.from && head <= token.to) return told;
  return followsCaret(state) && empty ? { offset: head, isPressed: false } : null;
}

export const toldField = StateField.define<Told | null>({
  create: () => null,
  update(told, transaction) {
    for (const effect of transaction.effects) {
      if (effect.is(setMode)) return null;
      if (effect.is(tell)) return effect.value === null ? null : { offset: effect.value, isPressed: true };
    }
    if (transaction.docChanged) return null; // what was expected held for the text as it was
    return transaction.selection ? ofSelection(told, transaction) : told;
  },
});

/** Undefined as long as it is not known how the text is cut there. */
export function toldToken(state: EditorState, told = state.field(toldField)): Range<Scored> | undefined {
  return told ? tokenAt(state.field(scoredField), told.offset) : undefined;
}
