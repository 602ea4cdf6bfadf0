// The public types of `showInside`.
import type { Change, Model, TokenIds } from "../client/index.js";
import type { InsideWords } from "./words.js";

/** A head of a layer. */
export interface HeadPlace {
  /** From 0. */
  layer: number;
  /** From 0. */
  head: number;
}

/** The attention of one head, from the chosen token to itself and the tokens before it. */
export interface HeadAttention extends HeadPlace {
  /** Index in the given ids of the first token that has a weight. Tokens before it are outside the context. */
  first: number;
  /** The weight of each token from `first` on, from 0 to 1; the last is that of the chosen token. */
  weights: Float32Array;
}

/** The progress of an update: first the tokens that the model has read; at the end, once, all layers. */
export interface InsideProgress {
  /** What is counted. */
  stage: "reading" | "layers";
  /** Tokens read, or layers shown. With changes, the tokens are read twice. */
  done: number;
  /** All tokens up to the chosen one, or all layers of the model. */
  total: number;
}

/** Options of `showInside`. */
export interface InsideOptions {
  /** Words that replace the English ones; missing words stay English. */
  words?: Partial<InsideWords> | null | undefined;
  /** The language of the words, as a BCP 47 tag, which also determines how numbers are written; "en" by default. */
  language?: string | null | undefined;
  /** The head that is shown first; by default the one that looks most clearly at one token other than the first and itself. The first `update` refuses one that its model lacks. */
  head?: HeadPlace | null | undefined;
  /** The level of the headings, 1 to 6; default 3. */
  headingLevel?: number | null | undefined;
  /** An element to show above the arcs, for example a legend for the tints of your own text. */
  legend?: HTMLElement | null | undefined;
  /** Called when the weights of the chosen head arrive, and when the reader chooses another head. */
  onHead?: ((attention: HeadAttention) => void) | null | undefined;
  /**
   * Called when the reader switches a head or an MLP off or on, with all changes, which `generate` takes, too. Call `update` then.
   * Without this function, the figures update themselves.
   */
  onChange?: ((change: readonly Change[]) => void) | null | undefined;
}

/** The arguments of `update`: what to show. */
export interface InsideToken {
  /** The model to look into. */
  model: Pick<Model, "info" | "inspect" | "detokenize">;
  /** Token ids of the text, as `model.tokenize` gives them. */
  ids: TokenIds;
  /** Index in `ids` of the token to look at; the last by default. */
  position?: number | null | undefined;
  /** The text of each id; by default from the model. Useful for characters that consist of several tokens. */
  texts?: readonly string[] | null | undefined;
  /** Changes of the forward pass; by default the parts that the reader has switched off in this model. */
  change?: readonly Change[] | null | undefined;
  /** Aborts the update: it rejects at once, and the model stops. */
  signal?: AbortSignal | null | undefined;
  /** Called while the model reads the text, and after each layer. */
  onProgress?: ((progress: InsideProgress) => void) | null | undefined;
}

/** What `showInside` returns. */
export interface InsideView {
  /** The head that is shown; undefined before the first update. */
  readonly head: HeadPlace | undefined;
  /**
   * Shows another token. The pictures are faded until the model has read the text. Resolves when all layers are shown. Rejects with
   * an InvalidArgumentError for wrong arguments, or with the model's error. Rejects with an AbortError when `signal` is aborted,
   * another update begins, or the figures are removed.
   */
  update: (token: InsideToken) => Promise<void>;
  /** Hides the pictures, but keeps their space. Call it when the text has changed. Aborts a running update. */
  clear: () => void;
  /** Removes everything from the page. Aborts the update that runs and every later one. */
  remove: () => void;
}
