// The tree as a part of the editor's state: to go to a branch, and to make one, are steps of the text's history, which undo
// and redo with it.
import { invertedEffects } from "@codemirror/commands";
import { StateEffect, StateField, type Extension } from "@codemirror/state";
import { keptOf } from "../editor/written.js";
import { moved, reversed, type Move, type Tree } from "./tree.js";

/** With the change that puts the other branch's text in place. */
export const goTo = StateEffect.define<Move>();

/** What is no step of the history: other names, or fewer branches. */
export const setTree = StateEffect.define<Tree>();

/** undefined: there is but one text. That of the current branch is the editor's. */
export const treeField = StateField.define<Tree | undefined>({
  create: () => undefined,
  update(tree, { effects, startState }) {
    let next = tree;
    for (const effect of effects) {
      if (effect.is(setTree)) next = effect.value;
      if (effect.is(goTo)) next = moved(next, effect.value, keptOf(startState));
    }
    return next;
  },
});

const takenBack = invertedEffects.of(({ effects }) =>
  effects.flatMap((effect) => (effect.is(goTo) ? goTo.of(reversed(effect.value)) : [])),
);

export const branchSteps = (tree: Tree | undefined): Extension => [treeField.init(() => tree), takenBack];
