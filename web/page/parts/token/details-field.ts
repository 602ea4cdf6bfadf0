// Which token's details are shown: the pressed one, or the one at the caret after a key moved it.
import { StateEffect, StateField, type EditorState, type Range, type Transaction } from "@codemirror/state";
import { scoredField, tokenAt, type Scored } from "../../document/scored.js";
import { modeField, setMode } from "../../document/view-mode.js";

/** The token that contains this offset, or ends there. */
interface DetailsPlace {
  readonly offset: number;
  /** A press also moves the caret next to the token, which does not change the choice. */
  readonly isPressed: boolean;
}

/** Shows the details of the pressed token, which ends at this offset; null hides them. */
export const showDetails = StateEffect.define<number | null>();

/** Views that show the details of the token at the caret. The plain view shows only those of a pressed token. */
const followsCaret = (state: EditorState) => !["text", "inside", "sees"].includes(state.field(modeField));

function ofSelection(place: DetailsPlace | null, transaction: Transaction): DetailsPlace | null {
  const { state } = transaction;
  const { head, empty } = state.selection.main;
  if (transaction.isUserEvent("select.pointer")) return place; // the press itself chooses the token
  const isByKeys = transaction.isUserEvent("select");
  const token = place?.isPressed && !isByKeys ? tokenWithDetails(state, place) : undefined;
  if (token && head >= token.from && head <= token.to) return place;
  return followsCaret(state) && empty ? { offset: head, isPressed: false } : null;
}

export const detailsField = StateField.define<DetailsPlace | null>({
  create: () => null,
  update(place, transaction) {
    for (const effect of transaction.effects) {
      if (effect.is(setMode)) return null;
      if (effect.is(showDetails))
        return effect.value === null ? null : { offset: effect.value, isPressed: true };
    }
    if (transaction.docChanged) return null; // the probabilities belong to the text before the edit
    return transaction.selection ? ofSelection(place, transaction) : place;
  },
});

/** undefined while the tokens there are unknown. */
export function tokenWithDetails(
  state: EditorState,
  place = state.field(detailsField),
): Range<Scored> | undefined {
  return place ? tokenAt(state.field(scoredField), place.offset) : undefined;
}
