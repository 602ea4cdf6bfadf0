// The suggestions at the caret, and the chosen one. They disappear when the caret moves or the text changes, unless
// you type or take the beginning of a suggestion. Then its rest stays and keeps growing.
import { StateEffect, StateField, type Transaction } from "@codemirror/state";
import { splitPieces, textOf, type Piece } from "../../document/pieces.js";
import { runField } from "../../document/run.js";

type Item = readonly Piece[];

/** What the model has found so far. */
export interface FoundSuggestions {
  /** Offset in the text of the request. */
  from: number;
  items: readonly Item[];
  /** Whether the suggestions are still growing. */
  isGrowing: boolean;
}

export interface Suggestions {
  /** Offset in the text where the suggestions are shown. */
  at: number;
  /** The part of a suggestion that was typed or taken since the request: the text before `at`. */
  taken: string;
  /** The suggestions that continue `taken`. Empty only while they grow, since more may still match. */
  items: readonly Item[];
  chosen: number;
  isGrowing: boolean;
}

export const setSuggestions = StateEffect.define<FoundSuggestions | null>();
export const chooseSuggestion = StateEffect.define<number>();

const startsWith = (item: Item, text: string) => textOf(item).startsWith(text);

/** The rest of `item` after `typed`; undefined if `item` does not start with it. */
function restOf(item: Item, typed: string): Item | undefined {
  const [, rest] = startsWith(item, typed) ? splitPieces(item, typed.length) : [];
  return rest && rest.length > 0 ? rest : undefined;
}

/** The text typed at `at`, if the caret is now after it; "" if nothing changed; undefined after any other change. */
function typedAt(at: number, { changes, newDoc, newSelection: { main } }: Transaction): string | undefined {
  const typed: (string | undefined)[] = [];
  changes.iterChanges((fromA, toA, fromB, toB) =>
    typed.push(fromA === at && toA === at ? newDoc.sliceString(fromB, toB) : undefined),
  );
  const [text, more] = typed.length > 0 ? typed : [""];
  if (text === undefined || more !== undefined) return undefined;
  return main.empty && main.head === at + text.length ? text : undefined;
}

function continueWith(suggestions: Suggestions, transaction: Transaction): Suggestions | null {
  const { at, taken, items, chosen, isGrowing } = suggestions;
  if (transaction.state.field(runField, false)?.stage === "open") return null; // the model writes there
  const typed = typedAt(at, transaction);
  if (typed === undefined) return null;
  if (typed === "") return suggestions;
  const rests = items.map((item) => restOf(item, typed));
  const left = rests.filter((rest) => rest !== undefined);
  const mayGrow = isGrowing && (items.length === 0 || items.some((item) => typed.startsWith(textOf(item))));
  if (left.length === 0 && !mayGrow) return null;
  const next = rests.slice(chosen).find((rest) => rest !== undefined);
  const place = next ? left.indexOf(next) : 0;
  return { at: at + typed.length, taken: taken + typed, items: left, chosen: place, isGrowing };
}

/**
 * The suggestions without the part that was already taken. `before` are those of the same request that were shown.
 */
function grow({ from, items, isGrowing }: FoundSuggestions, before: Suggestions | null): Suggestions | null {
  const taken = before?.taken ?? "";
  const rests = items.map((item) => restOf(item, taken)).filter((rest) => rest !== undefined);
  if (rests.length === 0 && !isGrowing) return null;
  // Each suggestion keeps its place, because the visitor may be about to press it. New ones are added at the end.
  const grown = before?.items.map((item) => rests.find((rest) => startsWith(rest, textOf(item)))) ?? [];
  const all = [...new Set([...grown, ...rests])].filter((item) => item !== undefined);
  const next = before && grown[before.chosen];
  const chosen = next ? all.indexOf(next) : 0;
  return { at: from + taken.length, taken, items: all, chosen, isGrowing };
}

export const suggestionsField = StateField.define<Suggestions | null>({
  create: () => null,
  update(suggestions, transaction) {
    let next = suggestions;
    if (next && (transaction.docChanged || transaction.selection)) next = continueWith(next, transaction);
    for (const effect of transaction.effects) {
      if (effect.is(setSuggestions)) next = effect.value && grow(effect.value, next);
      if (effect.is(chooseSuggestion) && next) next = { ...next, chosen: effect.value };
    }
    return next;
  },
});
