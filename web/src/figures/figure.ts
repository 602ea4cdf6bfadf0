// A picture with its sentence, the parts of the model that it shows, and its text form.
import { add } from "./add.js";
import { lettersOf } from "../shared/visible.js";
import { visible } from "../shared/visible.js";
import type { Diagram } from "./diagram.js";
import { nameOf, piecesOf, type Part } from "./parts.js";
import type { InsideText } from "./words.js";

/** Writes `sentence` into `parent`, its links as buttons that show a part in the diagram; returns those parts. */
function writeLinked(parent: HTMLElement, sentence: string, diagram: Diagram, text: InsideText): Part[] {
  const linked: Part[] = [];
  for (const { text: piece = "", part } of piecesOf(sentence)) {
    if (part === undefined) parent.append(piece);
    else {
      linked.push(part);
      const name = nameOf(text, part);
      const link = add(parent, "button", { type: "button", className: "part-link", textContent: name });
      link.addEventListener("click", () => diagram.choose(part));
    }
  }
  return linked;
}

export interface Figure {
  element: HTMLElement;
  /** The part that changes with the token, after the sentence. */
  finding: HTMLElement;
  picture: HTMLElement;
  /** The text form, below its summary. */
  words: HTMLElement;
  details: HTMLDetailsElement;
}

export function addFigure(
  parent: HTMLElement,
  diagram: Diagram,
  text: InsideText,
  { title, sentence, summary }: { title: string; sentence: string; summary: string },
): Figure {
  const element = add(parent, "figure");
  const caption = add(element, "figcaption");
  add(caption, `h${text.level}` as "h3", { textContent: title });
  const shown = writeLinked(add(caption, "p"), sentence, diagram, text);
  const finding = add(caption, "p", { className: "finding" });
  const picture = add(element, "div", { className: "picture" });
  const details = add(element, "details");
  add(details, "summary", { textContent: summary });
  const words = add(details, "div", { className: "words" });
  const light = () => diagram.highlight(shown);
  const rest = () => {
    if (!element.matches(":hover, :focus-within")) diagram.highlight([]);
  };
  element.addEventListener("pointerenter", light);
  element.addEventListener("focusin", light);
  element.addEventListener("pointerleave", rest);
  element.addEventListener("focusout", () => setTimeout(rest)); // after the focus has moved
  return { element, finding, picture, words, details };
}

/** Replaces the contents of `parent` by a table of `rows`, whose first cells are headers. */
export function writeTable(
  parent: HTMLElement,
  caption: string,
  heads: readonly string[],
  rows: readonly (readonly string[])[],
): void {
  parent.replaceChildren();
  const table = add(parent, "table");
  add(table, "caption", { className: "unseen", textContent: caption });
  const top = add(add(table, "thead"), "tr");
  for (const head of heads) add(top, "th", { scope: "col", textContent: head });
  const body = add(table, "tbody");
  for (const [name = "", ...cells] of rows) {
    const row = add(body, "tr");
    add(row, "th", { scope: "row", textContent: name });
    for (const cell of cells) add(row, "td", { textContent: cell });
  }
}

/** `text` as a label: invisible characters are made visible, and long text is cut. */
export function label(text: string, most = 16): string {
  const shown = lettersOf(visible(text));
  return shown.length > most ? `${shown.slice(0, most - 1).join("")}…` : shown.join("");
}
