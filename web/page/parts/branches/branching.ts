// Branches the text at a token, from which the model continues with another token, and switches between branches.
import { piecesOf } from "../../document/pieces.js";
import type { Editor } from "../../document/editor.js";
import type { RankedToken } from "../../assistant/predict.js";
import { visible } from "../../../src/shared/visible.js";
import { compareBranches } from "./compare.js";
import { showBranches, type BranchActions } from "./list.js";
import { changeTree, goToBranch } from "../../document/steps.js";
import {
  withCurrentText,
  moveToNewBranch,
  moveToBranch,
  type Move,
  type Tree,
  type TreeChange,
} from "../../document/tree.js";
import { phrase } from "../../language/editor.js";
import { phrase as startPhrase } from "../../language/start.js";
import { keepTranslated } from "../../language/keep-translated.js";
import type { Note, Notes } from "../../dom/notes.js";
import { whyInFull } from "../../language/why.js";
import "./branches.css";

export interface BranchWriting {
  /** Stops the model; resolves when it has stopped. */
  stop: () => Promise<void>;
  /** Lets the model continue at the end of the text. */
  goOn: () => void;
  say: (sentence: () => string) => void;
}

/** The token without the spaces around it, or as signs if it has no other characters. */
const nameOf = (token: string) => visible(token.trim() || token);

export class Branching {
  private readonly section: HTMLElement;
  private readonly place: HTMLElement;
  private readonly editor: Editor;
  private readonly notes: Notes;
  private readonly writing: BranchWriting;
  /** The newest branch, while the note offers to go back. */
  private made: { note: Note; id: number } | undefined;
  /** The branch to which the list was scrolled. */
  private inSight: number | undefined;
  private readonly actions: BranchActions = {
    walk: (id) => void this.walk(id),
    name: (id, name) => this.name(id, name),
    remove: (id, parent, name) => void this.remove(id, parent, name),
    compare: () => {
      const { all } = this;
      if (all) compareBranches(all, (id) => void this.walk(id));
    },
  };

  constructor(
    editor: Editor,
    section: HTMLElement,
    place: HTMLElement,
    notes: Notes,
    writing: BranchWriting,
  ) {
    this.editor = editor;
    this.section = section;
    this.place = place;
    this.notes = notes;
    this.writing = writing;
    keepTranslated(this, () => this.show());
  }

  /** All branches with the current text; undefined if there are none. */
  get all(): Tree | undefined {
    const { tree, kept } = this.editor;
    return tree && withCurrentText(tree, kept);
  }

  /**
   * Continues with `token` at `from`, in place of everything after it. The text before the change stays as another
   * branch.
   */
  async branch(from: number, token: RankedToken): Promise<void> {
    await this.writing.stop();
    const name = phrase("branchName", { token: nameOf(token.text), place: from });
    const made = moveToNewBranch(this.editor.tree, name, phrase("firstBranch"));
    this.editor.replaceFrom(from, piecesOf([{ ...token, index: 0 }]), [goToBranch.of(made)]);
    this.announce(made, token.text);
    this.writing.goOn();
  }

  /** Announces the new branch, whose original the text does not show, and offers the way back. */
  private announce({ from, to }: Move, token: string): void {
    const note = {
      sentence: () => phrase("branched", { token: nameOf(token) }),
      label: () => phrase("backToOther"),
      press: () => void this.walk(from.id),
    };
    this.made = { note, id: to.id };
    this.notes.show(note);
  }

  /** Hides the offer to go back once the visitor continues in the new branch. */
  settle(): void {
    this.notes.hide(this.made?.note);
    this.made = undefined;
  }

  /** Shows the list of branches. */
  show(): void {
    const { all: tree } = this;
    this.section.hidden = tree === undefined;
    try {
      if (tree) showBranches(this.place, tree, this.actions);
      if (tree?.current !== this.inSight) this.bringIntoSight();
      this.inSight = tree?.current;
    } catch (error) {
      // Whatever a stored text holds, the editor must open: without it, no other text can be opened.
      this.place.textContent = startPhrase("noPart", { why: whyInFull(error) });
    }
    if (this.made && tree?.current !== this.made.id) this.settle();
  }

  /** Scrolls the list to the current branch, but not the page. */
  private bringIntoSight(): void {
    const { section, place } = this;
    const item = place.querySelector("[aria-current]")?.getBoundingClientRect();
    const top = section.getBoundingClientRect().top + section.clientHeight / 2;
    if (item) section.scrollTop += item.top - top;
  }

  /** Updates the words of the branches, except of one that is being named. */
  refresh(): void {
    if (this.editor.tree && !this.place.querySelector("input")) this.show();
  }

  private async remove(id: number, parent: number, name: string): Promise<void> {
    await this.walk(parent);
    this.change({ kind: "remove", id });
    this.writing.say(() => phrase("removedBranch", { name }));
  }

  private async walk(id: number): Promise<void> {
    await this.writing.stop(); // the rest of the model's text belongs to the branch that is left
    const { tree } = this.editor;
    const next = tree?.branches.find((branch) => branch.id === id);
    const walk = tree && moveToBranch(tree, id);
    if (next && walk) this.editor.show(next.kept, [goToBranch.of(walk)]);
  }

  private name(id: number, name: string): void {
    const isOther = this.editor.tree?.branches.some((branch) => branch.id === id && branch.name !== name);
    if (isOther) this.change({ kind: "rename", id, name });
    else this.show(); // closes the field and records no step that changes nothing
  }

  private change(change: TreeChange): void {
    this.editor.view.dispatch({ effects: changeTree.of(change) });
  }
}
