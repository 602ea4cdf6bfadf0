// The branches as a list of lists, to walk, to name and to remove.
import { plainButton } from "../../dom/buttons.js";
import { childrenOf, type Branch, type Tree } from "../../document/tree.js";
import { phrase } from "../../language/editor.js";

export interface BranchActions {
  walk: (id: number) => void;
  name: (id: number, name: string) => void;
  remove: (id: number, name: string) => void;
}

function makeButton(text: string, label: string, action: () => void): HTMLButtonElement {
  const button = plainButton(text, action);
  button.ariaLabel = label;
  return button;
}

/** A field in the place of the branch's button; Enter, or leaving it, names the branch. */
function askName(row: HTMLElement, { id, name }: Branch, actions: BranchActions): void {
  const field = document.createElement("input");
  field.value = name;
  field.ariaLabel = phrase("nameOf", { name });
  let isDone = false;
  const finish = (isWanted: boolean) => {
    if (isDone) return;
    isDone = true;
    actions.name(id, (isWanted && field.value.trim()) || name);
  };
  field.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" && event.key !== "Escape") return;
    event.preventDefault();
    event.stopPropagation();
    finish(event.key === "Enter");
  });
  field.addEventListener("blur", () => finish(true));
  row.replaceChildren(field);
  field.select();
}

function itemOf(tree: Tree, branch: Branch, actions: BranchActions): HTMLLIElement {
  const { id, name } = branch;
  const item = document.createElement("li");
  const row = document.createElement("div");
  row.className = "buttons";
  const walk = makeButton(name, phrase("go", { name }), () => actions.walk(id));
  walk.dataset.branch = String(id);
  const isCurrent = id === tree.current;
  if (isCurrent) walk.ariaCurrent = "true";
  row.append(
    walk,
    makeButton(phrase("name"), phrase("nameNamed", { name }), () => askName(row, branch, actions)),
  );
  if (!isCurrent && branch.parent !== null) {
    row.append(makeButton(phrase("remove"), phrase("removeNamed", { name }), () => actions.remove(id, name)));
  }
  item.append(row);
  const children = childrenOf(tree, id);
  if (children.length > 0) item.append(listOf(tree, children, actions));
  return item;
}

function listOf(tree: Tree, branches: readonly Branch[], actions: BranchActions): HTMLUListElement {
  const list = document.createElement("ul");
  list.append(...branches.map((branch) => itemOf(tree, branch, actions)));
  return list;
}

/** Shows `tree` in `place`; the focus stays on the current branch, if it was in the list. */
export function showBranches(place: HTMLElement, tree: Tree, actions: BranchActions): void {
  const hadFocus = place.contains(document.activeElement);
  place.replaceChildren(listOf(tree, childrenOf(tree, null), actions));
  if (hadFocus) place.querySelector<HTMLElement>(`[data-branch="${tree.current}"]`)?.focus();
}
