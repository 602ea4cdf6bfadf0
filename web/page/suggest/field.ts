// What is suggested at the caret, and which of it is chosen. It goes as soon as the caret or the text does, but for who
// types just what is suggested: the rest of that stays.
import { StateEffect, StateField, type Transaction } from "@codemirror/state";
import { cut, textOf, type Piece } from "../editor/pieces.js";

export interface Suggestions {
  /** Offset in the text. */
  at: number;
  /** Never empty. */
  items: readonly (readonly Piece[])[];
  chosen: number;
  /** More of each is coming. */
  isGrowing?: boolean;
}

export const suggest = StateEffect.define<Suggestions | null>();
export const choose = StateEffect.define<number>();

/** What was typed at `at`; undefined where something else was done. */
function typedAt(at: number, { changes, startState, newDoc }: Transaction): string | undefined {
  if (startState.selection.main.head !== at) return undefined;
  const typed: (string | undefined)[] = [];
  changes.iterChanges((fromA, toA, fromB, toB) =>
    typed.push(fromA === at && toA === at ? newDoc.sliceString(fromB, toB) : undefined),
  );
  return typed.length === 1 ? typed[0] : undefined;
}

function goOn(suggestions: Suggestions, transaction: Transaction): Suggestions | null {
  const { at, items, chosen } = suggestions;
  if (!transaction.docChanged) return transaction.selection?.main.head === at ? suggestions : null;
  const typed = typedAt(at, transaction);
  if (typed === undefined) return null;
  const fits = (item: readonly Piece[]) => {
    const text = textOf(item);
    return text.length > typed.length && text.startsWith(typed);
  };
  const rest = items.filter(fits).map((item) => cut(item, typed.length)[1]);
  if (rest.length === 0) return null;
  const [kept] = items.slice(chosen).filter(fits);
  const place = kept ? items.filter(fits).indexOf(kept) : 0;
  return { at: at + typed.length, items: rest, chosen: place };
}

export const suggestionsField = StateField.define<Suggestions | null>({
  create: () => null,
  update(suggestions, transaction) {
    let next = suggestions;
    if (next && (transaction.docChanged || transaction.selection)) next = goOn(next, transaction);
    for (const effect of transaction.effects) {
      if (effect.is(suggest)) next = effect.value;
      if (effect.is(choose) && next) next = { ...next, chosen: effect.value };
    }
    return next;
  },
});
