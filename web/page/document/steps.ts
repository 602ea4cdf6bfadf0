// The tree of branches as a part of the editor's state. Opening, creating, renaming or removing a branch is a step of
// the undo history.
import { invertedEffects } from "@codemirror/commands";
import { StateEffect, StateField, type Extension } from "@codemirror/state";
import { toKeptText } from "./written.js";
import {
  applyStep,
  inverseStep,
  applyMove,
  reverseMove,
  type Move,
  type Tree,
  type TreeStep,
} from "./tree.js";

/** Opens another branch. The same transaction replaces the text. */
export const goToBranch = StateEffect.define<Move>();

/** Changes the tree. */
export const changeTree = StateEffect.define<TreeStep>();

/** undefined if the text has no branches. The editor's document is the text of the current branch. */
export const treeField = StateField.define<Tree | undefined>({
  create: () => undefined,
  update(tree, { effects, startState }) {
    let next = tree;
    for (const effect of effects) {
      if (effect.is(changeTree)) next = applyStep(next, effect.value);
      if (effect.is(goToBranch)) next = applyMove(next, effect.value, toKeptText(startState));
    }
    return next;
  },
});

const takenBack = invertedEffects.of(({ effects, startState }) => {
  const tree = startState.field(treeField);
  return effects.flatMap((effect) => {
    if (effect.is(goToBranch)) return goToBranch.of(reverseMove(effect.value));
    const back = effect.is(changeTree) && inverseStep(tree, effect.value);
    return back ? changeTree.of(back) : [];
  });
});

export const branchSteps = (tree: Tree | undefined): Extension => [treeField.init(() => tree), takenBack];
