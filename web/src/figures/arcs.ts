// The attention of one head, as arcs from the chosen token back over the text.
import { select } from "d3-selection";
import type { ModelConfig } from "../client/index.js";
import { add } from "./add.js";
import { addFigure, label, writeTable } from "./figure.js";
import type { Figure, FigureKind, FigureSite, HeadLook } from "./figure.js";
import { topWeights, type WeighedToken } from "./attention-weights.js";
import { links } from "./parts.js";
import type { HeadPlace } from "./types.js";
import type { InsideText } from "./words.js";

/** In pixels. */
const arcsHeight = 120;
const labelsHeight = 26;
const margin = 14;
const letterWidth = 7.5;
/** Limits of what is drawn: weaker arcs are too thin to see, and more arcs would merge into one shape. */
const leastDrawn = 0.01;
const mostDrawn = 48;
const mostListed = 10;
/** From this many tokens on, neighbouring tokens are spread. */
const mostStraight = 40;
/** From this many on, the marks would form a line. */
const mostMarked = 240;

/** The slot for the site's own legend. */
export const legendSlot = "legend";

/** The places of `tokens` on a line of `width`, bent so that the last ones have room. */
export function placeOn(width: number, tokens: number): (index: number) => number {
  const length = width - 2 * margin;
  const power = tokens > mostStraight ? 0.5 : 1;
  const last = Math.max(1, tokens - 1);
  return (index) => width - margin - length * ((tokens - 1 - index) / last) ** power;
}

/** Places and widths of the `labels` that fit without overlap; `labels` has the most important one first. */
export function withoutOverlap<T extends { x: number; width: number }>(labels: readonly T[]): T[] {
  const placed: T[] = [];
  for (const each of labels) {
    const isFree = placed.every(({ x, width }) => Math.abs(x - each.x) >= (width + each.width) / 2);
    if (isFree) placed.push(each);
  }
  return placed;
}

const words = {
  attention: "What a head looks at",
  "attention.help":
    "One head divides its {attention} over the text, from the chosen token at the right. A thicker arc means more attention.",
  looksAt: "Layer {layer}, head {head}, looks at {list}.",
  bent: "Nearby tokens are drawn further apart than they are.",
  rest: { one: "{count} other, {share}", other: "{count} others, {share} together" },
  place: "Token",
  text: "Text",
  weight: "Attention",
} as const;

const style = `
.controls {
  display: flex;
  flex-wrap: wrap;
  gap: 0.5em 1.25em;
}
.controls label {
  font-weight: 600;
}
.controls select {
  max-width: 100%;
  min-height: 2.4em;
  padding: 0 0.5em;
  border: 1px solid var(--line);
  border-radius: 0.4em;
  background: var(--gpt2-field, transparent);
  color: inherit;
  font: inherit;
}
/* The open list has the browser's own background. */
.controls option {
  background: Canvas;
  color: CanvasText;
}
.arcs .axis {
  stroke: var(--line);
}
.arcs .mark {
  fill: var(--quiet);
}
.arcs .arc {
  fill: none;
  stroke: var(--mark);
  stroke-linecap: round;
  opacity: 0.55;
}
.arcs .end {
  fill: var(--mark);
}
.arcs .end.itself {
  fill: var(--surface);
  stroke: var(--mark);
  stroke-width: 2px;
}
.arcs .name {
  font-family: var(--gpt2-token-font, inherit);
  text-anchor: middle;
}
.arcs .looking-one {
  font-weight: 700;
}
@media (forced-colors: active) {
  .arcs .arc { stroke: Highlight; }
  .arcs .end { fill: CanvasText !important; forced-color-adjust: none; }
}
`;

class Arcs {
  private readonly layers: HTMLSelectElement;
  private readonly heads: HTMLSelectElement;
  private readonly text: InsideText;
  private readonly figure: Figure;
  private looking: HeadLook | undefined;

  constructor(site: FigureSite) {
    const { text, onChoose } = site;
    this.text = text;
    this.figure = addFigure(site, text.phrase("attention"), text.phrase("attention.help", links), "asList");
    const controls = add(this.figure.element, "div", { className: "controls" });
    const legend = add(this.figure.element, "slot", { name: legendSlot });
    this.figure.picture.before(controls, legend);
    const choiceOf = (name: string) => {
      const choice = add(add(controls, "label", { textContent: `${name} ` }), "select");
      choice.addEventListener("change", () =>
        onChoose({ layer: this.layers.selectedIndex, head: this.heads.selectedIndex }),
      );
      return choice;
    };
    this.layers = choiceOf(text.phrase("layer"));
    this.heads = choiceOf(text.phrase("head"));
  }

  begin({ nLayer, nHead }: ModelConfig): void {
    for (const [choice, count] of [
      [this.layers, nLayer],
      [this.heads, nHead],
    ] as const) {
      if (choice.length === count) continue;
      choice.replaceChildren();
      for (let number = 1; number <= count; ++number) add(choice, "option", { text: String(number) });
    }
  }

  choose(place: HeadPlace, looking: HeadLook | undefined): void {
    this.layers.selectedIndex = place.layer;
    this.heads.selectedIndex = place.head;
    this.looking = looking;
    this.figure.picture.classList.toggle("waiting", !looking);
    if (!looking) {
      this.figure.finding.textContent = "";
      return;
    }
    const { text } = this;
    const { phrase } = text;
    const { layer, head, weights, texts, first } = looking;
    const most = topWeights(weights, mostListed, 0);
    const nameOf = ({ index }: WeighedToken) => label(texts[index] ?? "");
    const shares = most
      .slice(0, 3)
      .map((look) => phrase("share", { token: nameOf(look), share: text.percent(look.share) }));
    const found = phrase("looksAt", { layer: layer + 1, head: head + 1, list: shares.join(", ") });
    this.figure.finding.textContent = weights.length > mostStraight ? `${found} ${phrase("bent")}` : found;
    this.draw();
    const rows = most.map((look) => [String(first + look.index + 1), nameOf(look), text.percent(look.share)]);
    const others = weights.length - most.length;
    const rest = 1 - most.reduce((sum, { share }) => sum + share, 0);
    if (others > 0)
      rows.push(["…", phrase("rest", { count: others, share: text.percent(Math.max(0, rest)) }), ""]);
    writeTable(this.figure.words, found, [phrase("place"), phrase("text"), phrase("weight")], rows);
  }

  /** Fills the available width. */
  draw(): void {
    const { looking } = this;
    if (!looking) return;
    const { weights, texts } = looking;
    const tokens = weights.length;
    const { picture, finding } = this.figure;
    const width = Math.max(120, picture.clientWidth);
    const x = placeOn(width, tokens);
    const looks = topWeights(weights, mostDrawn, leastDrawn);
    const labels = [{ index: tokens - 1, share: 1 }, ...looks].map(({ index }) => {
      const text = label(texts[index] ?? "", 12);
      const half = (text.length * letterWidth) / 2; // an estimate: the site's font decides
      return { index, text, width: 2 * half + 6, x: Math.min(Math.max(x(index), half), width - half), half };
    });
    const svg = select(picture)
      .selectAll("svg")
      .data([looking])
      .join("svg")
      .attr("role", "img")
      .attr("aria-label", finding.textContent)
      .attr("class", "arcs")
      .attr("width", width)
      .attr("height", arcsHeight + labelsHeight);
    const marked = tokens > mostMarked ? [] : texts.map((_, index) => index);
    svg
      .selectAll(".axis")
      .data([width])
      .join("line")
      .attr("class", "axis")
      .attr("x1", margin)
      .attr("x2", (right) => right - margin)
      .attr("y1", arcsHeight)
      .attr("y2", arcsHeight);
    svg
      .selectAll(".mark")
      .data(marked)
      .join("circle")
      .attr("class", "mark")
      .attr("r", 1.5)
      .attr("cx", x)
      .attr("cy", arcsHeight);
    const from = x(tokens - 1);
    svg
      .selectAll(".arc")
      .data(looks.filter(({ index }) => index < tokens - 1))
      .join("path")
      .attr("class", "arc")
      .attr("stroke-width", ({ share }) => 0.75 + share * 8)
      .attr("d", ({ index }) => {
        const radius = (from - x(index)) / 2;
        const high = Math.min(radius, arcsHeight - 8);
        return `M ${from} ${arcsHeight} A ${radius} ${high} 0 0 0 ${x(index)} ${arcsHeight}`;
      });
    svg
      .selectAll(".end")
      .data(looks)
      .join("circle")
      .attr("class", "end")
      .classed("itself", ({ index }) => index === tokens - 1)
      .attr("r", ({ share }) => 1.5 + 7 * Math.sqrt(share))
      .attr("cx", ({ index }) => x(index))
      .attr("cy", arcsHeight);
    svg
      .selectAll(".name")
      .data(withoutOverlap(labels))
      .join("text")
      .attr("class", "name")
      .classed("looking-one", ({ index }) => index === tokens - 1)
      // At the ends of the line, aligns the name's end, so that the name stays inside the picture in every font.
      .attr("x", ({ x: middle, half }) => (middle <= half ? 0 : middle >= width - half ? width : middle))
      .style("text-anchor", ({ x: middle, half }) =>
        middle <= half ? "start" : middle >= width - half ? "end" : "middle",
      )
      .attr("y", arcsHeight + 22)
      .text(({ text }) => text);
  }
}

export const arcs = { words, style, make: (site) => new Arcs(site) } satisfies FigureKind;
