// The logit lens: the top guess after each layer, as bars.
import { select } from "d3-selection";
import type { TokenLogprob } from "../client/index.js";
import { lettersOf } from "../shared/visible.js";
import { addFigure, label, writeTable } from "./figure.js";
import type { Answer, Figure, FigureKind, FigureSite } from "./figure.js";
import { settledStage } from "./attention-weights.js";
import { links } from "./parts.js";
import type { InsideText } from "./words.js";

/** Number of guesses after each layer. */
const guessesShown = 5;

/** In pixels: the height of a row; the widths of stages, guesses, the shortest full bar, and percentages. */
const rowHeight = 22;
const stageWidth = 84;
const guessWidth = 116;
const barWidth = 24;
const shareWidth = 52;

interface Row {
  stage: number;
  guess: string;
  share: number;
  /** Whether it is the final guess. */
  isLast: boolean;
}

const nameOfStage = ({ phrase }: InsideText, stage: number) =>
  stage === 0 ? phrase("stageOfEmbedding") : phrase("stageOfLayer", { layer: stage });

const shareOf = (guess: TokenLogprob | undefined) => (guess ? Math.exp(guess.logprob) : 0);

/** Writes `name` into `text`, cut where it is wider than `most` pixels. */
function fit(text: SVGTextElement, name: string, most: number): void {
  const letters = lettersOf(name);
  text.textContent = name;
  while (letters.pop() && text.getComputedTextLength() > most) text.textContent = `${letters.join("")}…`;
}

const words = {
  lens: "The model's guess after each layer",
  "lens.help":
    "Here the {unembedding} reads the {residual} after each layer, as if that layer were the last. You see the top guess of the next token, and its probability. Before any layer, the stream is {embedding} plus {positions}.",
  settledAtOnce: "From the embedding on, the guess is “{guess}”.",
  settled: "From layer {layer} on, the guess is “{guess}”.",
  settledLast: "The guess becomes “{guess}” only in the last layer.",
  follows: "In the text, “{token}” comes next.",
  stageOfEmbedding: "Embedding",
  stageOfLayer: "Layer {layer}",
  guess: "Guess",
  probability: "Probability",
  others: "Other guesses",
} as const;

const style = `
.lens .stage,
.lens .share {
  fill: var(--quiet);
  font-variant-numeric: tabular-nums;
}
.lens .guess {
  font-family: var(--gpt2-token-font, inherit);
  font-size: 15px;
}
.lens rect {
  fill: var(--quiet);
  opacity: 0.5;
}
.lens .last rect {
  fill: var(--mark);
  opacity: 1;
}
.lens .last .guess {
  font-weight: 700;
}
@media (forced-colors: active) {
  .lens rect { fill: CanvasText !important; forced-color-adjust: none; }
}
`;

class Lens {
  private readonly text: InsideText;
  private readonly figure: Figure;
  private rows: readonly Row[] = [];

  constructor(site: FigureSite) {
    const { text } = site;
    this.text = text;
    this.figure = addFigure(site, text.phrase("lens"), text.phrase("lens.help", links), "asTable");
  }

  show({ guesses, tokens: { next } }: Answer): void {
    const { text } = this;
    const { phrase } = text;
    const last = guesses.at(-1)?.[0];
    this.rows = guesses.map(([guess], stage) => ({
      stage,
      guess: label(guess?.text ?? ""),
      share: shareOf(guess),
      isLast: guess?.id === last?.id,
    }));
    const settled = settledStage(guesses);
    const name = label(last?.text ?? "");
    const findings = [
      settled === guesses.length - 1
        ? phrase("settledLast", { guess: name })
        : settled === 0
          ? phrase("settledAtOnce", { guess: name })
          : phrase("settled", { guess: name, layer: settled }),
      ...(next === undefined ? [] : [phrase("follows", { token: label(next) })]),
    ];
    this.figure.finding.textContent = findings.join(" ");
    this.draw();
    const cells = guesses.map((some, stage) => [
      nameOfStage(this.text, stage),
      label(some[0]?.text ?? ""),
      text.percent(shareOf(some[0])),
      some
        .slice(1, guessesShown)
        .map((guess) => phrase("share", { token: label(guess.text), share: text.percent(shareOf(guess)) }))
        .join(", "),
    ]);
    const heads = [phrase("layer"), phrase("guess"), phrase("probability"), phrase("others")];
    writeTable(this.figure.words, phrase("lens"), heads, cells);
  }

  /** Fills the available width. */
  draw(): void {
    const { text } = this;
    const { picture, finding } = this.figure;
    const width = picture.clientWidth;
    const room = Math.max(24, Math.min(guessWidth, width - stageWidth - barWidth - shareWidth));
    const left = stageWidth + room;
    const most = Math.max(barWidth, width - left - shareWidth);
    const svg = select(picture)
      .selectAll("svg")
      .data([this.rows])
      .join("svg")
      .attr("role", "img")
      .attr("aria-label", finding.textContent)
      .attr("class", "lens")
      .attr("width", width)
      .attr("height", this.rows.length * rowHeight);
    const row = svg
      .selectAll("g")
      .data((rows) => rows)
      .join((enter) => {
        const g = enter.append("g");
        g.append("text").attr("class", "stage");
        g.append("text").attr("class", "guess").attr("x", stageWidth);
        g.append("rect")
          .attr("y", 5)
          .attr("height", rowHeight - 10)
          .attr("rx", 2);
        g.append("text").attr("class", "share");
        return g;
      })
      .attr("transform", ({ stage }) => `translate(0 ${stage * rowHeight})`)
      .classed("last", ({ isLast }) => isLast);
    row
      .selectAll("text")
      .attr("y", rowHeight / 2)
      .attr("dy", "0.35em");
    row.select(".stage").text(({ stage }) => nameOfStage(this.text, stage));
    row.select<SVGTextElement>(".guess").each(function ({ guess }) {
      fit(this, guess, room - 6);
    });
    row
      .select("rect")
      .attr("x", left)
      .attr("width", ({ share }) => Math.max(1, share * most));
    row
      .select(".share")
      .attr("x", ({ share }) => left + share * most + 6)
      .text(({ share }) => text.percent(share));
  }
}

export const lens = { words, style, make: (site) => new Lens(site) } satisfies FigureKind;
