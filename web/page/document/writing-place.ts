// Where the model writes on: at the caret. A press that only shows a word's details moves the caret, but not this place.
import { StateEffect, StateField, type EditorState } from "@codemirror/state";
import { isTyped } from "./run.js";

/** The press was no look at a word: the model writes on where it has put the caret. */
export const writeHere = StateEffect.define();

/** The place before the press of a word, until you press the word again, edit the text, or move the caret by keys. */
export const pressedField = StateField.define<number | null>({
  create: () => null,
  update(place, transaction) {
    const { changes, docChanged, effects, selection, startState, state } = transaction;
    if (effects.some((effect) => effect.is(writeHere)) || isTyped(transaction)) return null;
    const { main } = state.selection;
    if (transaction.isUserEvent("select.pointer"))
      return main.empty ? (place ?? startState.selection.main.to) : null;
    if (place === null || selection || transaction.isUserEvent("delete")) return null;
    return docChanged ? changes.mapPos(place, 1) : place; // the model may write there while you look
  },
});

export const writingPlace = (state: EditorState): number =>
  state.field(pressedField, false) ?? state.selection.main.to;
