// The parts of GPT-2 and their names.
import type { ModelConfig } from "../client/index.js";
import type { InsideText } from "./words.js";

/** In the order in which a token passes them. */
export const parts = ["embedding", "positions", "residual", "attention", "mlp", "unembedding"] as const;
export type Part = (typeof parts)[number];

/** Facts about the model and the chosen token. */
export interface Facts extends ModelConfig {
  token: string;
  id: number;
  /** From 1. */
  place: number;
}

export const nameOf = ({ phrase }: InsideText, part: Part): string => phrase(`part.${part}`);

export const sentenceOf = ({ phrase }: InsideText, part: Part, facts: Facts): string =>
  part === "unembedding" && facts.tieWordEmbeddings
    ? phrase("part.unembedding.tied", facts)
    : phrase(`part.${part}.help`, facts);

/** The placeholder that stands for a link to each part: see `piecesOf`. */
export const links: Readonly<Record<Part, string>> = {
  embedding: "{embedding}",
  positions: "{positions}",
  residual: "{residual}",
  attention: "{attention}",
  mlp: "{mlp}",
  unembedding: "{unembedding}",
};

/** `sentence` in pieces of text, and the parts that are linked between them. */
export const piecesOf = (sentence: string): { text?: string; part?: Part }[] =>
  sentence.split(/(\{\w+\})/).map((piece) => {
    const part = parts.find((each) => links[each] === piece);
    return part ? { part } : { text: piece };
  });
