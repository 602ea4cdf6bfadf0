// The list of branches. Each is shown by the first words in which it differs from its parent. Actions apply to the
// current branch.
import { childrenOf, inOrder, type Branch, type Tree } from "../../document/tree.js";
import { askName } from "../../dom/ask-name.js";
import { plainButton } from "../../dom/buttons.js";
import { make } from "../../dom/make.js";
import { phrase } from "../../language/editor.js";
import { sharedLength } from "../../library/alternatives.js";

export interface BranchActions {
  walk: (id: number) => void;
  name: (id: number, name: string) => void;
  /** Removes the current branch and switches to `parent`. */
  remove: (id: number, parent: number, name: string) => void;
  compare: () => void;
}

/** At most this many words stand for a branch. */
const mostWords = 7;

/**
 * The branch that `branch` is compared with: its parent. The first branch is compared with the first that came from
 * it.
 */
export const otherOf = (tree: Tree, branch: Branch): Branch | undefined =>
  tree.branches.find(({ id }) => id === branch.parent) ?? childrenOf(tree, branch.id)[0];

/** The first words of `branch` that the other branch does not have. */
export function wordsOf(tree: Tree, branch: Branch): string {
  const { text } = branch.kept;
  const other = otherOf(tree, branch)?.kept.text ?? "";
  const words = text.slice(sharedLength(other, text)).trim().split(/\s+/u);
  const shown = words.slice(0, mostWords).join(" ");
  return words.length > mostWords ? `${shown.replace(/[.,;:]$/u, "")}…` : shown;
}

function makeButton(text: string, label: string, action: () => void): HTMLButtonElement {
  const button = plainButton(text, action);
  button.ariaLabel = label;
  return button;
}

function itemOf(tree: Tree, branch: Branch, actions: BranchActions): HTMLLIElement {
  const { id, name } = branch;
  const words = wordsOf(tree, branch) || phrase("endsThere");
  const walk = plainButton("", () => actions.walk(id), "bare");
  walk.dataset.branch = String(id);
  if (id === tree.current) walk.setAttribute("aria-current", "true");
  walk.ariaLabel = `${phrase("go", { name })}: ${words}`;
  walk.append(
    make("span", { className: "words", dir: "auto" }, words),
    make("small", { className: "quiet" }, name),
  );
  return make("li", {}, walk);
}

/** Shows `tree` in `place`. If the focus was in the list, it stays on the current branch. */
export function showBranches(place: HTMLElement, tree: Tree, actions: BranchActions): void {
  const hadFocus = place.contains(document.activeElement);
  const list = make("ol", {}, ...inOrder(tree).map(({ branch }) => itemOf(tree, branch, actions)));
  const buttons = make("div", { className: "buttons" });
  const current = tree.branches.find(({ id }) => id === tree.current);
  if (current) {
    const { id, parent, name } = current;
    const item = () => list.querySelector<HTMLElement>("li:has([aria-current])");
    buttons.append(
      makeButton(phrase("compare"), phrase("compare"), actions.compare),
      makeButton(phrase("name"), phrase("nameNamed", { name }), () => {
        const place = item();
        const rename = (next = name) => actions.name(id, next);
        if (place) askName(place, name, phrase("nameOf", { name }), rename);
      }),
    );
    if (parent !== null) {
      const remove = () => actions.remove(id, parent, name);
      buttons.append(makeButton(phrase("remove"), phrase("removeNamed", { name }), remove));
    }
  }
  place.replaceChildren(list, buttons);
  if (hadFocus) place.querySelector<HTMLElement>(`[data-branch="${tree.current}"]`)?.focus();
}
