// The tree as a part of the editor's state: to go to a branch, and to make, name or remove one, are steps of the text's history,
// which undo and redo with it.
import { invertedEffects } from "@codemirror/commands";
import { StateEffect, StateField, type Extension } from "@codemirror/state";
import { keptOf } from "./written.js";
import { changed, changedBack, moved, reversed, type Move, type Tree, type TreeChange } from "./tree.js";

/** With the change that puts the other branch's text in place. */
export const goTo = StateEffect.define<Move>();

/** Without a change of the text. */
export const changeTree = StateEffect.define<TreeChange>();

/** undefined: there is but one text. That of the current branch is the editor's. */
export const treeField = StateField.define<Tree | undefined>({
  create: () => undefined,
  update(tree, { effects, startState }) {
    let next = tree;
    for (const effect of effects) {
      if (next && effect.is(changeTree)) next = changed(next, effect.value);
      if (effect.is(goTo)) next = moved(next, effect.value, keptOf(startState));
    }
    return next;
  },
});

const takenBack = invertedEffects.of(({ effects, startState }) => {
  const tree = startState.field(treeField);
  return effects.flatMap((effect) => {
    if (effect.is(goTo)) return goTo.of(reversed(effect.value));
    const back = tree && effect.is(changeTree) && changedBack(tree, effect.value);
    return back ? changeTree.of(back) : [];
  });
});

export const branchSteps = (tree: Tree | undefined): Extension => [treeField.init(() => tree), takenBack];
