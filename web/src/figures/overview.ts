// All heads of all layers at a glance: a grid that the arrow keys move through.
import { select } from "d3-selection";
import { symbol, symbolCircle, symbolDiamond, symbolSquare, symbolTriangle, type SymbolType } from "d3-shape";
import { add } from "./add.js";
import type { Diagram } from "./diagram.js";
import { addFigure, writeTable, type Figure } from "./figure.js";
import { mainTargetOf, mainTargets, rowOf, type MainTarget } from "./attention-weights.js";
import { links } from "./parts.js";
import type { InsideText } from "./words.js";
import type { HeadPlace } from "./types.js";

/** In units of the picture, which fills the available width. */
const cell = 28;
const nameWidth = 28;
const namesHeight = 18;

const signs: Readonly<Record<MainTarget, SymbolType>> = {
  first: symbolSquare,
  before: symbolTriangle,
  self: symbolCircle,
  elsewhere: symbolDiamond,
};

/** A sign with `share` of the full area. */
const signOf = (glance: MainTarget, share: number) => symbol(signs[glance], 30 + 230 * share)() ?? "";

interface Seen {
  glance: MainTarget;
  share: number;
}

export class Overview {
  private readonly text: InsideText;
  private readonly figure: Figure;
  private readonly onChoose: (place: HeadPlace) => void;
  /** [nLayer][nHead]; empty rows until the model has answered. */
  private seen: (readonly Seen[])[] = [];
  private heads = 0;
  private chosen: HeadPlace = { layer: 0, head: 0 };

  constructor(parent: HTMLElement, diagram: Diagram, text: InsideText, onChoose: (place: HeadPlace) => void) {
    this.text = text;
    this.onChoose = onChoose;
    this.figure = addFigure(parent, diagram, text, {
      title: text.phrase("overview"),
      sentence: text.phrase("overview.help", links),
      summary: text.phrase("asTable"),
    });
    const { element, picture, details } = this.figure;
    const legend = add(element, "ul", { className: "signs" });
    picture.before(legend);
    for (const glance of mainTargets) {
      const item = add(legend, "li");
      const svg = select(item).append("svg").attr("viewBox", "-10 -10 20 20").attr("aria-hidden", "true");
      svg.append("path").attr("class", `sign ${glance}`).attr("d", signOf(glance, 0.6));
      item.append(text.phrase(`glance.${glance}`));
    }
    details.addEventListener("toggle", () => this.write());
  }

  /** Starts another token or model, without values so far. */
  begin(layers: number, heads: number): void {
    this.seen = Array.from({ length: layers }, () => []);
    this.heads = heads;
    this.draw();
  }

  /** Shows `layers`, each of which is [nHead, tokens]. */
  show(layers: readonly Float32Array[], tokens: number): void {
    this.seen = layers.map((attention) =>
      Array.from({ length: this.heads }, (_, head) => mainTargetOf(rowOf(attention, head, tokens))),
    );
    this.draw();
    this.write();
  }

  choose(place: HeadPlace): void {
    this.chosen = place;
    this.draw();
  }

  private nameOf(layer: number, head: number): string {
    const { text } = this;
    const { phrase } = text;
    const seen = this.seen[layer]?.[head];
    const place = { layer: layer + 1, head: head + 1 };
    return seen
      ? phrase("headSees", {
          ...place,
          share: text.percent(seen.share),
          name: phrase(`glance.${seen.glance}`),
        })
      : phrase("headAwaited", place);
  }

  private walk(event: KeyboardEvent): void {
    const { layer, head } = this.chosen;
    const last = this.heads - 1;
    const steps: Readonly<Record<string, HeadPlace>> = {
      ArrowLeft: { layer, head: head - 1 },
      ArrowRight: { layer, head: head + 1 },
      ArrowUp: { layer: layer - 1, head },
      ArrowDown: { layer: layer + 1, head },
      Home: { layer, head: 0 },
      End: { layer, head: last },
    };
    const next = steps[event.key];
    if (!next || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    const isThere = next.layer >= 0 && next.layer < this.seen.length && next.head >= 0 && next.head <= last;
    if (isThere) this.onChoose(next);
  }

  private draw(): void {
    const { picture } = this.figure;
    const { chosen } = this;
    const width = nameWidth + this.heads * cell;
    const columns = Array.from({ length: this.heads }, (_, head) => head);
    const places = this.seen.map((row, layer) => columns.map((head) => ({ layer, head, seen: row[head] })));
    const svg = select(picture)
      .selectAll("svg")
      .data([places])
      .join((enter) =>
        enter
          .append("svg")
          .attr("class", "heads")
          .attr("role", "grid")
          .attr("tabindex", 0)
          .attr("aria-label", this.text.phrase("overview"))
          .on("keydown", (event: KeyboardEvent) => this.walk(event)),
      )
      .attr("aria-activedescendant", `head-${chosen.layer}-${chosen.head}`)
      .attr("viewBox", `0 0 ${width} ${namesHeight + places.length * cell}`)
      .style("max-width", `${width * 1.2}px`);
    svg
      .selectAll(".head-name")
      .data(columns)
      .join("text")
      .attr("class", "head-name")
      .attr("aria-hidden", "true")
      .attr("x", (head) => nameWidth + (head + 0.5) * cell)
      .attr("y", 12)
      .text((head) => head + 1);
    const row = svg
      .selectAll(".layer")
      .data((all) => all)
      .join((enter) => {
        const g = enter.append("g").attr("class", "layer").attr("role", "row");
        g.append("text").attr("class", "layer-name").attr("aria-hidden", "true").attr("x", 10);
        return g;
      })
      .attr("transform", (_, layer) => `translate(0 ${namesHeight + (layer + 0.5) * cell})`);
    row.select(".layer-name").text((_, layer) => layer + 1);
    row
      .selectAll(".cell")
      .data((each) => each)
      .join((enter) => {
        const g = enter.append("g").attr("class", "cell").attr("role", "gridcell");
        g.on("click", (_event, { layer, head }) => this.onChoose({ layer, head }));
        g.append("rect")
          .attr("x", 1 - cell / 2)
          .attr("y", 1 - cell / 2)
          .attr("width", cell - 2)
          .attr("height", cell - 2)
          .attr("rx", 4);
        g.append("path");
        return g;
      })
      .attr("id", ({ layer, head }) => `head-${layer}-${head}`)
      .attr("aria-selected", ({ layer, head }) => String(layer === chosen.layer && head === chosen.head))
      .attr("aria-label", ({ layer, head }) => this.nameOf(layer, head))
      .attr("transform", ({ head }) => `translate(${nameWidth + (head + 0.5) * cell} 0)`)
      .select("path")
      .attr("class", ({ seen }) => (seen ? `sign ${seen.glance}` : "sign"))
      .attr("d", ({ seen }) => (seen ? signOf(seen.glance, seen.share) : null));
  }

  /** Creates the table when it is opened: for a large model it has a thousand cells. */
  private write(): void {
    if (!this.figure.details.open) return;
    const { text } = this;
    const { phrase } = text;
    const heads = [phrase("layer"), ...Array.from({ length: this.heads }, (_, head) => String(head + 1))];
    const rows = this.seen.map((row, layer) => [
      String(layer + 1),
      ...row.map(({ glance, share }) => `${text.percent(share)} ${phrase(`glance.${glance}`)}`),
    ]);
    writeTable(this.figure.words, phrase("overview"), heads, rows);
  }
}
