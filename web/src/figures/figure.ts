// A picture with its sentence, the parts of the model that it shows, and its text form.
import type { Change, Inspection, ModelConfig } from "../client/index.js";
import { add } from "./add.js";
import { lettersOf } from "../shared/visible.js";
import { visible } from "../shared/visible.js";
import type { Diagram } from "./diagram.js";
import { nameOf, piecesOf, type Part } from "./parts.js";
import type { InspectedTokens } from "./read-token.js";
import type { HeadPlace } from "./types.js";
import type { InsideText, PhraseForms } from "./words.js";

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

/** What the model answered about a token. */
export interface Answer {
  tokens: InspectedTokens;
  /** The most probable tokens after each layer. */
  guesses: Inspection["guesses"];
  /** The same without the changes. */
  unchanged: Inspection["guesses"];
  /** The attention of each layer, [nHead, tokens]. */
  layers: readonly Float32Array[];
}

/** The attention of one head, with the texts of the tokens. */
export interface HeadLook extends HeadPlace {
  /** [tokens]; the last one is the query. */
  weights: Float32Array;
  /** The tokens' texts. */
  texts: readonly string[];
  /** Number of tokens in the text before the first one here. */
  first: number;
}

/** A figure on a page. */
export interface FigureView {
  /** Prepares for another token or model, without values so far. */
  begin?: (config: ModelConfig) => void;
  show?: (answer: Answer) => void;
  /** Shows the chosen head; follows `begin` and `show`. `look` is undefined until the model has answered. */
  choose?: (place: HeadPlace, look: HeadLook | undefined) => void;
  /** Shows which parts are switched off; `show` follows when the model has answered. */
  switched?: (change: readonly Change[]) => void;
  /** Fills the available width, which has changed. */
  draw?: () => void;
}

/** Where a figure is drawn. */
export interface FigureSite {
  parent: HTMLElement;
  diagram: Diagram;
  text: InsideText;
  /** Chooses another head. */
  onChoose: (place: HeadPlace) => void;
  /** Sets the changes of the forward pass. */
  onSwitch: (change: readonly Change[]) => void;
}

/** A figure: its English words, its style, and how it is made. */
export interface FigureKind {
  words: Readonly<Record<string, string | PhraseForms>>;
  style: string;
  make: (site: FigureSite) => FigureView;
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

/** `title` and `sentence` stand before the picture, and `summary` names its text form, unless the picture is text. */
export function addFigure(
  { parent, diagram, text }: FigureSite,
  title: string,
  sentence: string,
  summary?: "asTable" | "asList",
): Figure {
  const element = add(parent, "figure");
  const caption = add(element, "figcaption");
  add(caption, `h${text.level}` as "h3", { textContent: title });
  const shown = writeLinked(add(caption, "p"), sentence, diagram, text);
  const finding = add(caption, "p", { className: "finding" });
  const picture = add(element, "div", { className: "picture" });
  const details = add(element, "details", { hidden: !summary });
  if (summary) add(details, "summary", { textContent: text.phrase(summary) });
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
