// All heads of all layers at a glance: a grid that the arrow keys move through.
import { select } from "d3-selection";
import { symbol, symbolCircle, symbolDiamond, symbolSquare, symbolTriangle, type SymbolType } from "d3-shape";
import type { Change, ModelConfig } from "../client/index.js";
import { add } from "./add.js";
import { addFigure, writeTable } from "./figure.js";
import type { Answer, Figure, FigureKind, FigureSite } from "./figure.js";
import { mainTargetOf, mainTargets, rowOf, type MainTarget } from "./attention-weights.js";
import { links } from "./parts.js";
import { headOff, isOff } from "./switches.js";
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

const words = {
  overview: "All heads of all layers",
  "overview.help":
    "Each symbol is a head of {attention}. Its shape shows where most of the attention goes, and its size shows how much. Press one, or use the arrow keys, to see it above.",
  "glance.first": "the first token",
  "glance.before": "the token before",
  "glance.self": "the token itself",
  "glance.elsewhere": "another token",
  headSees: "Layer {layer}, head {head}: {share} to {name}",
  headAwaited: "Layer {layer}, head {head}: not computed yet",
  headIsOff: "Layer {layer}, head {head}: switched off",
  isOff: "switched off",
} as const;

const style = `
.signs {
  display: flex;
  flex-wrap: wrap;
  gap: 0.25em 1em;
  margin: 0;
  padding: 0;
  list-style: none;
  font-size: 0.9333em;
}
.signs li {
  display: flex;
  align-items: center;
  gap: 0.4em;
}
.signs svg {
  width: 1.25em;
}
/* Shapes distinguish them, too. */
.sign {
  fill: currentColor;
}
.sign.first {
  fill: var(--quiet);
}
.sign.before {
  fill: color-mix(in srgb, #c05c0a 75%, currentColor);
}
.sign.self {
  fill: color-mix(in srgb, #1f6f86 65%, currentColor);
}
.sign.elsewhere {
  fill: color-mix(in srgb, #94307f 65%, currentColor);
}
.heads {
  width: 100%;
}
.heads text {
  fill: var(--quiet);
  font-size: 11px;
  text-anchor: middle;
  dominant-baseline: middle;
}
.heads rect {
  fill: transparent;
}
.heads .cell {
  cursor: pointer;
}
.heads .cell:hover rect {
  fill: var(--line);
}
.heads .off path {
  opacity: 0.15;
}
.heads .cross {
  stroke: currentColor;
  stroke-width: 1.5px;
  display: none;
}
.heads .off .cross {
  display: inline;
}
.heads [aria-selected="true"] rect {
  stroke: currentColor;
  stroke-width: 2px;
}
.heads:focus {
  outline: none;
}
.heads:focus-visible {
  outline: 3px solid var(--accent);
  outline-offset: -3px;
}
.heads:focus-visible [aria-selected="true"] rect {
  fill: var(--line);
  stroke: var(--accent);
  stroke-width: 3px;
}
@media (forced-colors: active) {
  .sign { fill: CanvasText !important; forced-color-adjust: none; }
}
`;

class Overview {
  private readonly text: InsideText;
  private readonly figure: Figure;
  private readonly onChoose: (place: HeadPlace) => void;
  /** [nLayer][nHead]; empty rows until the model has answered. */
  private seen: (readonly Seen[])[] = [];
  private heads = 0;
  private chosen: HeadPlace = { layer: 0, head: 0 };
  private change: readonly Change[] = [];

  constructor(site: FigureSite) {
    const { text } = site;
    this.text = text;
    this.onChoose = site.onChoose;
    this.figure = addFigure(site, text.phrase("overview"), text.phrase("overview.help", links), "asTable");
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

  begin({ nLayer, nHead }: ModelConfig): void {
    this.seen = Array.from({ length: nLayer }, () => []);
    this.heads = nHead;
  }

  show({ layers, tokens: { ids } }: Answer): void {
    this.seen = layers.map((attention) =>
      Array.from({ length: this.heads }, (_, head) => mainTargetOf(rowOf(attention, head, ids.length))),
    );
    this.write();
  }

  choose(place: HeadPlace): void {
    this.chosen = place;
    this.render();
  }

  switched(change: readonly Change[]): void {
    this.change = change;
    this.render();
    this.write();
  }

  private nameOf(layer: number, head: number): string {
    const { text } = this;
    const { phrase } = text;
    const seen = this.seen[layer]?.[head];
    const place = { layer: layer + 1, head: head + 1 };
    if (isOff(this.change, headOff({ layer, head }))) return phrase("headIsOff", place);
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

  private render(): void {
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
        g.append("line").attr("class", "cross").attr("x1", -8).attr("y1", 8).attr("x2", 8).attr("y2", -8);
        return g;
      })
      .classed("off", (place) => isOff(this.change, headOff(place)))
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
      ...row.map(({ glance, share }, head) =>
        isOff(this.change, headOff({ layer, head }))
          ? phrase("isOff")
          : `${text.percent(share)} ${phrase(`glance.${glance}`)}`,
      ),
    ]);
    writeTable(this.figure.words, phrase("overview"), heads, rows);
  }
}

export const overview = { words, style, make: (site) => new Overview(site) } satisfies FigureKind;
