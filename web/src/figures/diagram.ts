// A small picture of GPT-2. Press a part to read what it does. The stream runs from left to right; attention and MLP read
// it and add to it.
import { select } from "d3-selection";
import { nameOf, parts, sentenceOf, type Facts, type Part } from "./parts.js";
import type { InsideText } from "./words.js";

/** Start and end, in percent of the picture's width and height. */
type Line = readonly [x1: number, y1: number, x2: number, y2: number];

/** The height of the stream; additions come from above. */
const stream = 66;

const lines: readonly (readonly [part: Part, line: Line])[] = [
  ["positions", [12, 34, 12, 54]],
  ["residual", [24, stream, 75.5, stream]],
  ["attention", [34, stream, 34, 47]],
  ["attention", [47, 46, 47, stream - 5]],
  ["mlp", [57, stream, 57, 47]],
  ["mlp", [67, 46, 67, stream - 5]],
];

/** Where the results of attention and MLP are added. */
const sums = [47, 67];

export class Diagram {
  private readonly text: InsideText;
  private readonly root;
  private readonly said;
  private facts: Facts | undefined;
  private chosen: Part | undefined;

  constructor(parent: HTMLElement, text: InsideText) {
    this.text = text;
    this.root = select(parent)
      .append("div")
      .attr("class", "diagram")
      .attr("part", "diagram")
      .attr("role", "group")
      .attr("aria-label", text.phrase("diagram"))
      .property("hidden", true); // until there is text
    const picture = this.root.append("svg").attr("aria-hidden", "true");
    picture
      .append("marker")
      .attr("id", "arrow-head")
      .attr("viewBox", "0 0 6 6")
      .attr("refX", 5)
      .attr("refY", 3)
      .attr("markerUnits", "userSpaceOnUse")
      .attr("markerWidth", 8)
      .attr("markerHeight", 8)
      .attr("orient", "auto")
      .append("path")
      .attr("d", "M 0 0 L 6 3 L 0 6 z");
    picture
      .append("rect")
      .attr("class", "layers")
      .attr("x", "28%")
      .attr("y", "2%")
      .attr("width", "44%")
      .attr("height", "97%");
    picture
      .selectAll("line")
      .data(lines)
      .join("line")
      .attr("x1", ([, [x]]) => `${x}%`)
      .attr("y1", ([, [, y]]) => `${y}%`)
      .attr("x2", ([, [, , x]]) => `${x}%`)
      .attr("y2", ([, [, , , y]]) => `${y}%`)
      .attr("marker-end", "url(#arrow-head)");
    picture
      .selectAll("circle")
      .data(sums)
      .join("circle")
      .attr("class", "sum")
      .attr("cx", (x) => `${x}%`)
      .attr("cy", `${stream}%`)
      .attr("r", 4);
    this.root.append("span").attr("class", "layers-name");
    this.root
      .selectAll("button")
      .data(parts)
      .join("button")
      .attr("type", "button")
      .attr("class", "part")
      .attr("data-part", (part) => part)
      .attr("aria-pressed", "false")
      .text((part) => nameOf(text, part))
      .on("click", (_event, part) => this.choose(part));
    this.said = select(parent).append("p").attr("class", "part-sentence").attr("role", "status");
  }

  /** Explains `part`. */
  choose(part: Part): void {
    this.chosen = part;
    this.root.selectAll<HTMLElement, Part>("button").attr("aria-pressed", (each) => String(each === part));
    this.say();
  }

  /** Marks the parts that a picture shows. */
  highlight(shown: readonly Part[]): void {
    const isShown = (part: Part) => shown.includes(part);
    this.root.selectAll<HTMLElement, Part>("button").classed("shown", isShown);
    this.root
      .selectAll<SVGElement, (typeof lines)[number]>("line")
      .classed("shown", ([part]) => isShown(part));
  }

  /** The values in its sentences. */
  describe(facts: Facts): void {
    this.facts = facts;
    this.root.property("hidden", false);
    this.root.select(".layers-name").text(this.text.phrase("layers", { count: facts.nLayer }));
    this.say();
  }

  private say(): void {
    const { facts, chosen, text } = this;
    const sentence = chosen && facts ? sentenceOf(text, chosen, facts) : text.phrase("pressPart");
    if (this.said.text() !== sentence) this.said.text(sentence);
  }
}
