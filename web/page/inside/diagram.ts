// A small picture of GPT-2, whose parts say what they do. The stream runs from left to right; attention and MLP read it
// and add to it.
import { select } from "d3-selection";
import { layersOf, partNames, parts, partSentences, sentences, type Facts, type Part } from "./sentences.js";

/** Of the whole picture, in percent of its width and height: its lines, with an arrow at the end of each. */
const lines: readonly (readonly [points: string, ends: Part])[] = [
  ["11,35 11,58", "positions"],
  ["22,72 77,72", "residual"],
  ["33,72 33,50 35,50", "attention"],
  ["48,46 48,72", "attention"],
  ["55,72 55,50 57,50", "mlp"],
  ["69,46 69,72", "mlp"],
];

export class Diagram {
  private readonly root;
  private readonly said;
  private facts: Facts | undefined;
  private chosen: Part | undefined;

  constructor(parent: HTMLElement) {
    this.root = select(parent)
      .append("div")
      .attr("class", "diagram")
      .attr("role", "group")
      .attr("aria-label", sentences.diagram);
    const picture = this.root
      .append("svg")
      .attr("viewBox", "0 0 100 100")
      .attr("preserveAspectRatio", "none")
      .attr("aria-hidden", "true");
    picture
      .append("rect")
      .attr("class", "layers")
      .attr("x", 28)
      .attr("y", 2)
      .attr("width", 46)
      .attr("height", 96);
    picture
      .selectAll("polyline")
      .data(lines)
      .join("polyline")
      .attr("points", ([points]) => points)
      .attr("data-part", ([, part]) => part);
    this.root.append("span").attr("class", "layers-name");
    this.root
      .selectAll("button")
      .data(parts)
      .join("button")
      .attr("type", "button")
      .attr("class", (part) => `part part-${part}`)
      .attr("aria-pressed", "false")
      .text((part) => partNames[part])
      .on("click", (_event, part) => this.choose(part));
    this.said = select(parent).append("p").attr("class", "part-sentence").attr("role", "status");
    this.said.text(sentences.pressPart);
  }

  /** Says what `part` does. */
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
      .selectAll<SVGElement, (typeof lines)[number]>("polyline")
      .classed("shown", ([, part]) => isShown(part));
  }

  /** What its sentences are about. */
  describe(facts: Facts): void {
    this.facts = facts;
    this.root.select(".layers-name").text(layersOf(facts.nLayer));
    this.say();
  }

  private say(): void {
    const { facts, chosen } = this;
    if (chosen && facts) this.said.text(partSentences[chosen](facts));
  }
}
