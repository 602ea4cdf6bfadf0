// The two fields of *What the model sees* as a part of the editor's state. Another text brings its own, and Undo returns those
// of the text before. Typing in a field is no step of the history.
import { invertedEffects } from "@codemirror/commands";
import {
  StateEffect,
  StateField,
  Transaction,
  type Extension,
  type TransactionSpec,
} from "@codemirror/state";
import { EditorView } from "@codemirror/view";
import type { Signal } from "@preact/signals-core";
import type { ContextFields } from "../state/context-fields.js";

/** undefined if both are empty. */
type Fields = ContextFields | undefined;

/** null if both are empty: CodeMirror drops effects without a value. */
export const setFields = StateEffect.define<ContextFields | null>();

export const fieldsField = StateField.define<Fields>({
  create: () => undefined,
  update: (fields, { effects }) =>
    effects.reduce((now, effect) => (effect.is(setFields) ? (effect.value ?? undefined) : now), fields),
});

const givenBack = invertedEffects.of(({ effects, startState }) =>
  effects.some((effect) => effect.is(setFields)) ? [setFields.of(startState.field(fieldsField) ?? null)] : [],
);

/** A text begins with `fields`. */
export const fieldSteps = (fields: Fields): Extension => [fieldsField.init(() => fields), givenBack];

/** Sets `fields` with each change of those in the editor. */
export const mirrorFields = (fields: Signal<Fields>): Extension =>
  EditorView.updateListener.of(({ startState, state }) => {
    const now = state.field(fieldsField);
    if (now !== startState.field(fieldsField)) fields.value = now;
  });

/** The change when the visitor types in a field. */
export const typeFields = (fields: Fields): TransactionSpec => ({
  effects: setFields.of(fields ?? null),
  annotations: Transaction.addToHistory.of(false),
});
