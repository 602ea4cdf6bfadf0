// What Inside says. "{part}" in a sentence is a link to that part of the model.
import type { ModelConfig } from "../../src/client/index.js";
import type { Glance } from "./heads.js";

/** The parts of GPT-2, in the order in which a token meets them. */
export const parts = ["embedding", "positions", "residual", "attention", "mlp", "unembedding"] as const;
export type Part = (typeof parts)[number];

/** What is known of the model, and of the token that was chosen. */
export interface Facts extends ModelConfig {
  token: string;
  id: number;
  /** From 1. */
  place: number;
}

export const partNames: Readonly<Record<Part, string>> = {
  embedding: "embedding",
  positions: "positions",
  residual: "residual stream",
  attention: "attention",
  mlp: "MLP",
  unembedding: "unembedding",
};

const count = (value: number) => value.toLocaleString("en");

export const partSentences: Readonly<Record<Part, (facts: Facts) => string>> = {
  embedding: ({ token, id, nEmbd, vocabSize }) =>
    `Each of the ${count(vocabSize)} tokens has a row of ${count(nEmbd)} numbers, which the model has learnt. “${token}”, number ${id}, comes in as its row.`,
  positions: ({ place, nEmbd, nPositions }) =>
    `Each of ${count(nPositions)} places has ${count(nEmbd)} numbers, too. Those of place ${place} are added to the token's: so the model knows what stands before what.`,
  residual: ({ nEmbd }) =>
    `A token's ${count(nEmbd)} numbers on their way through the layers. Attention and MLP read them, and add to them what they have found; nothing is ever overwritten.`,
  attention: ({ nHead }) =>
    `Here tokens look at each other. Each of a layer's ${nHead} heads weighs the tokens up to this one, and brings what it looks for from where it looks.`,
  mlp: ({ nEmbd, nInner }) =>
    `Each token by itself: ${count(nEmbd)} numbers become ${count(nInner)}, most of which are all but switched off, and what is left becomes ${count(nEmbd)} that are added. No picture shows it alone; from one layer's guess to the next, attention and MLP have both been at work.`,
  unembedding: ({ vocabSize, tieWordEmbeddings }) =>
    `The numbers, normed, are compared with a row for each of the ${count(vocabSize)} tokens${tieWordEmbeddings ? ", the same as those of the embedding" : ""}: the more alike, the more probable is that token as the next.`,
};

export const layersOf = (layers: number) => `${layers} layers`;

export const glanceNames: Readonly<Record<Glance, string>> = {
  first: "the first token",
  before: "the token before",
  self: "the token itself",
  elsewhere: "another token",
};

export const sentences = {
  title: "Inside",
  intro: "Move the caret to a token, and see how the model gets from it to the next.",
  diagram: "The parts of GPT-2",
  pressPart: "Press a part to read what it does.",
  token: (token: string, place: number, last: number) => `“${token}”, token ${place} of ${last}`,
  noToken: "No token is chosen.",
  before: "Token before",
  after: "Token after",
  layer: "Layer",
  head: "Head",
  cancel: "Cancel",
  again: "Look again",
  progress: "Looking inside",

  empty: "There is no text yet: write a few words, or take one of the openings.",
  loading: "Looks inside as soon as the model is loaded.",
  writing: "Looks inside as soon as the model has written.",
  waiting: "Looks at the text as soon as it is cut into tokens.",
  reading: "Reading the text up to the token…",
  looking: "Looking at the other layers…",
  seen: (layers: number, heads: number) => `Seen: ${layers} layers, ${heads} heads each.`,
  window: (tokens: number) =>
    `The model sees the last ${tokens} tokens up to it, all that its context holds.`,
  stopped: "Stopped.",
  failed: "Nothing can be seen.",

  lens: "Its guess after every layer",
  lensSentence:
    "The {residual} after each layer, read through the {unembedding} as if that were the last: the top guess of the next token, and how probable it is. It begins as {embedding} and {positions}, before any layer.",
  settled: (guess: string, stage: string) => `From ${stage} on it is “${guess}”.`,
  settledLast: (guess: string) => `It becomes “${guess}” only in the last layer.`,
  follows: (token: string) => `In the text, “${token}” comes next.`,
  stage: (stage: number) => (stage === 0 ? "Embedding" : `Layer ${stage}`),
  inSentence: (stage: number) => (stage === 0 ? "the embedding" : `layer ${stage}`),
  guess: "Guess",
  probability: "Probability",
  others: "Then",

  attention: "What a head looks at",
  attentionSentence:
    "How one head of {attention} shares itself out over the text, seen from the chosen token at the right: the thicker an arc, the more of it goes there. The text is tinted by the same.",
  tints: "Tints:",
  bent: "Tokens that are near stand further apart than they are.",
  looksAt: (layer: number, head: number, most: string) => `Layer ${layer}, head ${head}, looks at ${most}.`,
  share: (token: string, percent: string) => `“${token}” ${percent}`,
  rest: (tokens: number, percent: string) => `${tokens} others, ${percent} together`,
  place: "Token",
  text: "Text",
  weight: "Attention",

  overview: "All heads of all layers",
  overviewSentence:
    "Each sign is a head of {attention}: its shape says what most of it looks at, its size how much. Press one, or walk with the arrow keys, to see it above.",
  headSees: (layer: number, head: number, name: string, percent: string) =>
    `Layer ${layer}, head ${head}: ${percent} to ${name}`,
  headWaits: (layer: number, head: number) => `Layer ${layer}, head ${head}: not seen yet`,

  asTable: "As a table",
  asList: "As a list",
} as const;
