// Shows two branches side by side, from the place where they differ.
import type { Branch, Tree } from "../../document/tree.js";
import { plainButton } from "../../dom/buttons.js";
import { phrase } from "../../language/editor.js";
import { sharedLength, wordsBefore } from "../../library/alternatives.js";
import { otherOf, wordsOf } from "./list.js";

function column(branch: Branch, shared: number, head: HTMLElement): HTMLElement {
  const { text } = branch.kept;
  const part = document.createElement("section");
  const content = document.createElement("p");
  content.lang = "";
  const before = document.createElement("span");
  before.className = "quiet";
  before.textContent = wordsBefore(text, shared);
  content.append(before, text.slice(0, shared).endsWith(" ") ? " " : "", text.slice(shared));
  part.append(head, content);
  return part;
}

/** Shows the current branch of `tree` beside another one, which the visitor selects. */
export function compareBranches(tree: Tree, walk: (id: number) => void): void {
  const current = tree.branches.find(({ id }) => id === tree.current);
  const first = current && otherOf(tree, current);
  if (!current || !first) return;
  const dialog = document.createElement("dialog");
  dialog.id = "compare";
  dialog.ariaLabel = phrase("compare");
  const columns = document.createElement("div");
  columns.className = "columns";
  const title = document.createElement("h2");
  title.textContent = current.name;
  const select = document.createElement("select");
  select.ariaLabel = phrase("compareWith");
  for (const branch of tree.branches) {
    if (branch === current) continue;
    select.append(
      new Option(`${branch.name}: ${wordsOf(tree, branch)}`, String(branch.id), false, branch === first),
    );
  }
  const other = () => tree.branches.find(({ id }) => String(id) === select.value) ?? first;
  const show = () => {
    const shared = sharedLength(current.kept.text, other().kept.text);
    columns.replaceChildren(column(current, shared, title), column(other(), shared, select));
  };
  select.addEventListener("change", () => {
    show();
    select.focus();
  });
  const close = () => dialog.close();
  const buttons = document.createElement("div");
  buttons.className = "buttons";
  buttons.append(
    plainButton(phrase("close"), close),
    plainButton(phrase("takeOther"), () => {
      close();
      walk(other().id);
    }),
  );
  show();
  dialog.append(columns, buttons);
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
}
