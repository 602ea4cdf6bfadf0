// Draws how a model gets from a token to the next. Updates the pictures, and keeps the selected head.
import type { Model, TokenIds } from "../client/index.js";
import { describeValue, refuse } from "../shared/refuse.js";
import { followingController } from "../shared/unless-aborted.js";
import { add } from "./add.js";
import { Arcs, legendSlot } from "./arcs.js";
import { rowOf } from "./attention-weights.js";
import { Diagram } from "./diagram.js";
import { label } from "./figure.js";
import { inspectLayers } from "./inspect-layers.js";
import { Lens } from "./lens.js";
import { Overview, type HeadPlace } from "./overview.js";
import { readTokens, type InspectedTokens } from "./read-token.js";
import { insideStyle } from "./style.js";
import { InsideText, readLanguage, readWords, type InsideWords } from "./words.js";

/** The attention of one head, from the chosen token to itself and the tokens before it. */
export interface HeadAttention extends HeadPlace {
  /** Index in the given ids of the first token that has a weight. Tokens before it are outside the context. */
  first: number;
  /** The weight of each token from `first` on, from 0 to 1; the last is that of the chosen token. */
  weights: Float32Array;
}

/** How far an update is: tokens that the model has read, then layers that are shown. */
export interface InsideProgress {
  /** What is counted. */
  stage: "reading" | "layers";
  /** Tokens read, or layers shown. */
  done: number;
  /** All tokens up to the chosen one, or all layers of the model. */
  total: number;
}

/** Options of `showInside`. */
export interface InsideOptions {
  /** Words in place of the English ones; those that are missing stay English. */
  words?: Partial<InsideWords> | null | undefined;
  /** The language of the words, as a BCP 47 tag: numbers are written as in this language; "en". */
  language?: string | null | undefined;
  /** The head that is shown first; the first head of the middle layer. */
  head?: HeadPlace | null | undefined;
  /** An element that stands above the arcs, for example what the tints of your own text mean. */
  legend?: HTMLElement | null | undefined;
  /** Called when the weights of the chosen head come, and when the reader chooses another head. */
  onHead?: ((attention: HeadAttention) => void) | null | undefined;
}

/** What `update` shows. */
export interface InsideToken {
  /** The model to look into. */
  model: Pick<Model, "info" | "inspect" | "detokenize">;
  /** Token ids of the text, as `model.tokenize` gives them. */
  ids: TokenIds;
  /** Index in `ids` of the token to look at; the last by default. */
  position?: number | null | undefined;
  /** The text of each id; by default from the model. Useful for characters that consist of several tokens. */
  texts?: readonly string[] | null | undefined;
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
   * an InvalidArgumentError for wrong arguments, or with the model's error. Rejects with an AbortError when `signal` is aborted
   * or another update begins.
   */
  update: (token: InsideToken) => Promise<void>;
  /** Hides the pictures, and keeps their room: call it when the text has changed. Aborts the update that runs. */
  clear: () => void;
  /** Removes everything from the page. Aborts the update that runs. */
  remove: () => void;
}

class Inside implements InsideView {
  head: HeadPlace | undefined;
  private readonly host: HTMLElement;
  private readonly onHead: (attention: HeadAttention) => void;
  private readonly resizing: ResizeObserver;
  private readonly pictures: HTMLElement;
  private readonly diagram: Diagram;
  private readonly lens: Lens;
  private readonly arcs: Arcs;
  private readonly overview: Overview;
  private readonly layers: HTMLSelectElement;
  private readonly heads: HTMLSelectElement;
  private running: AbortController | undefined;
  private seen: InspectedTokens | undefined;
  /** [nHead, ids] for each layer that has arrived. */
  private attention: (Float32Array | undefined)[] = [];

  constructor(parent: Element, { words, language, head, legend, onHead }: InsideOptions) {
    const text = new InsideText(readWords(words), readLanguage(language));
    this.head = head ?? undefined;
    this.onHead = onHead ?? (() => {});
    this.host = add(parent, "div");
    const shadow = this.host.attachShadow({ mode: "open" });
    const sheet = new CSSStyleSheet(); // needs no permission of a content security policy
    sheet.replaceSync(insideStyle);
    shadow.adoptedStyleSheets = [sheet];
    const root = document.createElement("div");
    root.className = "inside";
    shadow.append(root);
    this.diagram = new Diagram(root, text);
    this.pictures = add(root, "div", { className: "pictures", hidden: true });
    this.pictures.setAttribute("part", "pictures");
    this.lens = new Lens(this.pictures, this.diagram, text);
    this.arcs = new Arcs(this.pictures, this.diagram, text);
    this.overview = new Overview(this.pictures, this.diagram, text, (place) => this.choose(place));
    this.layers = this.addChoice(text.phrase("layer"), (layer, { head: same }) => ({ layer, head: same }));
    this.heads = this.addChoice(text.phrase("head"), (other, { layer }) => ({ layer, head: other }));
    if (legend) {
      legend.slot = legendSlot;
      this.host.append(legend);
    }
    this.resizing = new ResizeObserver(() => {
      this.lens.draw();
      this.arcs.draw();
    });
    this.resizing.observe(root);
  }

  /** A list to select a layer or a head. */
  private addChoice(
    name: string,
    placeOf: (index: number, place: HeadPlace) => HeadPlace,
  ): HTMLSelectElement {
    const choice = add(add(this.arcs.controls, "label", { textContent: `${name} ` }), "select");
    choice.addEventListener("change", () => {
      if (this.head) this.choose(placeOf(choice.selectedIndex, this.head));
    });
    return choice;
  }

  async update({ model, ids, position, texts, signal, onProgress }: InsideToken): Promise<void> {
    this.running?.abort();
    const { controller, letGo } = followingController(signal ?? new AbortController().signal);
    this.running = controller;
    this.pictures.classList.add("stale");
    try {
      const seen = await readTokens(model, ids, position, texts, controller.signal);
      controller.signal.throwIfAborted();
      await this.look(model, seen, controller.signal, onProgress ?? (() => {}));
    } catch (error) {
      if (this.running === controller && !controller.signal.aborted) this.clear();
      throw error;
    } finally {
      letGo();
    }
  }

  private async look(
    model: InsideToken["model"],
    seen: InspectedTokens,
    signal: AbortSignal,
    onProgress: (progress: InsideProgress) => void,
  ): Promise<void> {
    const { nLayer } = model.info.config;
    const { layer: shownFirst } = this.begin(model, seen);
    let done = 0;
    await inspectLayers(model, seen.ids, shownFirst, signal, {
      onRead: (progress) => onProgress({ stage: "reading", ...progress }),
      onGuesses: (guesses) => {
        this.pictures.hidden = false;
        this.pictures.classList.remove("stale", "cleared");
        this.lens.show(guesses, seen.next);
      },
      onAttention: (layer, attention) => {
        this.attention[layer] = attention;
        this.overview.add(layer, attention, seen.ids.length);
        if (layer === this.head?.layer) this.showHead();
        onProgress({ stage: "layers", done: (done += 1), total: nLayer });
      },
    });
  }

  /** Prepares the pictures for a token; returns the selected head. */
  private begin({ info: { config } }: InsideToken["model"], seen: InspectedTokens): HeadPlace {
    const { nLayer, nHead } = config;
    const { ids, texts } = seen;
    this.seen = seen;
    this.attention = [];
    const token = label(texts.at(-1) ?? "");
    this.diagram.describe({ ...config, token, id: ids.at(-1) ?? 0, place: ids.length });
    for (const [choice, count] of [
      [this.layers, nLayer],
      [this.heads, nHead],
    ] as const) {
      if (choice.length === count) continue;
      choice.replaceChildren();
      for (let number = 1; number <= count; ++number) add(choice, "option", { text: String(number) });
    }
    const { layer, head } = this.head ?? { layer: nLayer >> 1, head: 0 };
    this.overview.begin(nLayer, nHead);
    const chosen = { layer: Math.min(layer, nLayer - 1), head: Math.min(head, nHead - 1) };
    this.choose(chosen);
    return chosen;
  }

  private choose(place: HeadPlace): void {
    this.head = place;
    this.layers.selectedIndex = place.layer;
    this.heads.selectedIndex = place.head;
    this.overview.choose(place);
    this.showHead();
  }

  private showHead(): void {
    const { seen, head: place } = this;
    const attention = place && this.attention[place.layer];
    if (!attention || !seen) return this.arcs.show(undefined);
    const { ids, first, texts } = seen;
    const weights = rowOf(attention, place.head, ids.length);
    this.arcs.show({ ...place, weights, texts, first });
    this.onHead({ ...place, first, weights });
  }

  clear(): void {
    this.running?.abort();
    this.seen = undefined;
    this.attention = [];
    this.pictures.classList.add("cleared");
  }

  remove(): void {
    this.running?.abort();
    this.resizing.disconnect();
    this.host.remove();
  }
}

/**
 * Draws into `element` what happens inside a model: a diagram of its parts, the guess after each layer, and the attention of its
 * heads. Nothing is drawn before the first `update`. The figures are added at the end of `element`, in a shadow tree of their own.
 * Throws an InvalidArgumentError for wrong arguments.
 */
export function showInside(element: Element, options: InsideOptions = {}): InsideView {
  if ((element as Partial<Node> | null)?.nodeType !== 1)
    refuse(`element is ${describeValue(element)}, expected an element of the page`);
  return new Inside(element, options);
}
