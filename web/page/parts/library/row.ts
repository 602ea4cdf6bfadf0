// One row of the list: a text's name, time of change, length and actions.
import { askName } from "../../dom/ask-name.js";
import { plainButton } from "../../dom/buttons.js";
import { make } from "../../dom/make.js";
import { formatAgo } from "../../language/ago.js";
import { phrase as ofEditor } from "../../language/editor.js";
import { phrase } from "../../language/library.js";
import { countWords, firstWords } from "../../library/preview.js";
import type { Passage } from "../../library/search.js";
import type { ListedText } from "../../library/texts.js";

export interface RowActions {
  open: (text: ListedText) => void;
  rename: (text: ListedText, name: string) => void;
  duplicate: (text: ListedText) => void;
  remove: (text: ListedText) => void;
}

export const shownName = ({ name, text }: Pick<ListedText, "name" | "text">): string =>
  name ?? (firstWords(text) || phrase("untitled"));

function factsOf({ changed, where }: ListedText, words: number): string {
  const facts = [phrase("words", { count: words })];
  if (changed > 0) facts.unshift(formatAgo(changed));
  if (where !== "nowhere") facts.push(phrase(where === "here" ? "here" : "elsewhere"));
  return facts.join(" · ");
}

export class Row {
  readonly item = make("li");
  private text: ListedText;
  private words: number;
  private readonly actions: RowActions;
  private readonly head = make("div", { className: "text-head" });
  private readonly name = make("span", { className: "text-name", dir: "auto" });
  private readonly facts = make("small", { className: "quiet" });
  private readonly passage = make("p", { className: "quiet", dir: "auto" });
  private readonly open = plainButton("", () => this.actions.open(this.text), "bare");
  private readonly more = plainButton("⋯", () => this.showMore(this.buttons.hidden));
  private readonly buttons = make("div", { className: "buttons", role: "group" });
  private readonly rename = plainButton("", () => this.askName());
  private readonly duplicate = plainButton("", () => this.actions.duplicate(this.text));
  private readonly remove = plainButton("", () => this.actions.remove(this.text));

  constructor(text: ListedText, actions: RowActions) {
    this.text = text;
    this.words = countWords(text.text);
    this.actions = actions;
    this.open.append(this.name, this.facts);
    this.more.className = "sign";
    this.head.append(this.open, this.more);
    this.buttons.append(this.rename, this.duplicate, this.remove);
    this.item.append(this.head, this.passage, this.buttons);
    this.showMore(false);
  }

  /** Shows the current text in the page's language, with the search result in it. */
  update(text: ListedText, passage: Passage | undefined): void {
    if (text.text !== this.text.text) this.words = countWords(text.text);
    this.text = text;
    this.facts.textContent = factsOf(text, this.words);
    this.passage.replaceChildren();
    if (passage) this.passage.append(passage.before, make("mark", {}, passage.match), passage.after);
    this.open.ariaCurrent = text.where === "here" ? "true" : null;
    this.showName();
    this.rename.textContent = phrase("rename");
    this.duplicate.textContent = phrase("duplicate");
    this.remove.textContent = phrase("remove");
  }

  focus(): void {
    this.open.focus();
  }

  private showName(): void {
    const name = shownName(this.text);
    this.name.textContent = name;
    this.more.ariaLabel = this.more.title = this.buttons.ariaLabel = phrase("actions", { name });
  }

  private showMore(isShown: boolean): void {
    this.buttons.hidden = !isShown;
    this.more.ariaExpanded = String(isShown);
  }

  private askName(): void {
    const name = shownName(this.text);
    this.showMore(false);
    askName(this.head, name, ofEditor("nameOf", { name }), (next) => {
      const hadFocus = this.head.contains(document.activeElement);
      const { text } = this;
      const isNew = next !== undefined && next !== name;
      if (isNew) this.text = { ...text, name: next };
      this.showName(); // a screen reader announces the button as it is when it receives the focus
      this.head.replaceChildren(this.open, this.more);
      if (hadFocus) this.more.focus();
      if (isNew) this.actions.rename(text, next);
    });
  }
}
