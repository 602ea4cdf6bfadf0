// Branching the text: at a token, from which the model goes on with another; and walking from branch to branch.
import { piecesOf } from "../editor/pieces.js";
import type { Editor } from "../editor/editor.js";
import { visible, type RankedToken } from "../seeing/token-panel.js";
import { isRepeated } from "../visit.js";
import { showBranches, type BranchActions } from "./list.js";
import { fork, leave, parseTree, remove, rename, type Tree } from "./tree.js";
import { phrase } from "../language/editor.js";

/** Of this page alone: others of the same host share the storage. */
const key = `gpt2-branches ${location.pathname}`;

function readKept(): Tree | undefined {
  try {
    return parseTree(JSON.parse(sessionStorage.getItem(key) ?? "null"));
  } catch {
    return undefined; // there is no storage, as in a sandboxed frame, or what it has is damaged
  }
}

export interface BranchWriting {
  /** Resolves when the model writes no more. */
  stop: () => Promise<void>;
  /** Lets the model write at the end of the text. */
  goOn: () => void;
}

export class Branching {
  private tree: Tree | undefined;
  private readonly section: HTMLElement;
  private readonly place: HTMLElement;
  private readonly editor: Editor;
  private readonly writing: BranchWriting;
  private readonly actions: BranchActions = {
    walk: (id) => void this.walk(id),
    name: (id, name) => this.set(this.tree && rename(this.tree, id, name)),
    remove: (id) => this.set(this.tree && remove(this.tree, id)),
  };

  constructor(editor: Editor, section: HTMLElement, place: HTMLElement, writing: BranchWriting) {
    this.editor = editor;
    this.section = section;
    this.place = place;
    this.writing = writing;
    if (isRepeated()) this.set(readKept());
    addEventListener("pagehide", () => this.keep());
  }

  /** All branches, with the text as it is now; undefined where there is but one text. */
  get all(): Tree | undefined {
    return this.tree && leave(this.tree, this.editor.kept);
  }

  /** Goes on with `token` at `from`, in place of all that stands there; that stays as another branch. */
  async branch(from: number, token: RankedToken): Promise<void> {
    await this.writing.stop();
    const { kept } = this.editor;
    const name = phrase("branchName", { token: visible(token.text.trim()), place: from });
    this.set(fork(this.tree, kept, name, phrase("firstBranch")));
    this.editor.replaceFrom(from, piecesOf([{ ...token, index: 0 }]));
    this.writing.goOn();
  }

  private async walk(id: number): Promise<void> {
    await this.writing.stop(); // what it writes belongs to the branch that is left
    if (!this.tree || id === this.tree.current) return;
    const left = leave(this.tree, this.editor.kept);
    const next = left.branches.find((branch) => branch.id === id);
    if (!next) return;
    this.set({ ...left, current: id });
    this.editor.show(next.kept);
  }

  private set(tree: Tree | undefined): void {
    this.tree = tree;
    this.section.hidden = tree === undefined;
    if (tree) showBranches(this.place, tree, this.actions);
  }

  private keep(): void {
    try {
      const { all } = this;
      if (all) sessionStorage.setItem(key, JSON.stringify(all));
      else sessionStorage.removeItem(key);
    } catch {
      // There is none, or too little: some megabytes.
    }
  }
}
