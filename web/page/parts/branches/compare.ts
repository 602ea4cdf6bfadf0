// Shows two branches side by side, from the place where they differ.
import type { Branch, Tree } from "../../document/tree.js";
import { plainButton } from "../../dom/buttons.js";
import { make } from "../../dom/make.js";
import { phrase } from "../../language/editor.js";
import { sharedLength, wordsBefore } from "../../library/alternatives.js";
import { otherOf, wordsOf } from "./list.js";

function column(branch: Branch, shared: number, head: HTMLElement): HTMLElement {
  const { text } = branch.kept;
  const before = make("span", { className: "quiet" }, wordsBefore(text, shared));
  const space = text.slice(0, shared).endsWith(" ") ? " " : "";
  return make("section", {}, head, make("p", { lang: "", dir: "auto" }, before, space, text.slice(shared)));
}

/** Shows the current branch of `tree` beside another one, which the visitor selects. */
export function compareBranches(tree: Tree, walk: (id: number) => void): void {
  const current = tree.branches.find(({ id }) => id === tree.current);
  const first = current && otherOf(tree, current);
  if (!current || !first) return;
  const columns = make("div", { className: "columns" });
  const title = make("h2", {}, current.name);
  const select = make("select", { ariaLabel: phrase("compareWith") });
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
  const take = plainButton(phrase("takeOther"), () => {
    close();
    walk(other().id);
  });
  const buttons = make("div", { className: "buttons" }, plainButton(phrase("close"), close), take);
  const dialog = make("dialog", { id: "compare", ariaLabel: phrase("compare") }, columns, buttons);
  show();
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
}
