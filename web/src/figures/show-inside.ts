// Draws how a model computes the next token. Updates the pictures, and keeps the selected head and the changes.
import type { Change, PromptProgress } from "../client/index.js";
import { followingController } from "../shared/unless-aborted.js";
import { add } from "./add.js";
import { legendSlot } from "./arcs.js";
import { clearestHead, rowOf } from "./attention-weights.js";
import { Diagram } from "./diagram.js";
import { label, type FigureView } from "./figure.js";
import { figures } from "./figures.js";
import { checkHead, readElement, readInsideOptions, readToken, type ReadToken } from "./read-arguments.js";
import { readTokens, type InspectedTokens } from "./read-token.js";
import { insideStyle } from "./style.js";
import type { HeadAttention, HeadPlace, InsideOptions, InsideToken, InsideView } from "./types.js";
import { InsideText } from "./words.js";

/** Number of guesses after each layer: enough to compare the next token with and without changes. */
const guessesNeeded = 20;

class Inside implements InsideView {
  head: HeadPlace | undefined;
  private readonly host: HTMLElement;
  private readonly onHead: (attention: HeadAttention) => void;
  private readonly onChange: ((change: readonly Change[]) => void) | undefined;
  private readonly resizing: ResizeObserver;
  private readonly pictures: HTMLElement;
  private readonly diagram: Diagram;
  private readonly figures: readonly FigureView[];
  /** Whether the reader or an update has chosen `head`; before, it is that of the caller. */
  private isHeadKnown = false;
  private change: readonly Change[] = [];
  /** What was shown last. */
  private token: InsideToken | undefined;
  private running: AbortController | undefined;
  private readonly removal = new AbortController();
  private seen: InspectedTokens | undefined;
  /** [nHead, ids] for each layer; empty until the model has answered. */
  private attention: readonly Float32Array[] = [];

  constructor(parent: Element, options: InsideOptions | null) {
    const { words, language, head, headingLevel, legend, onHead, onChange } = readInsideOptions(options);
    const text = new InsideText(words, language, headingLevel);
    this.head = head;
    this.onHead = onHead ?? (() => {});
    this.onChange = onChange;
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
    const site = {
      parent: this.pictures,
      diagram: this.diagram,
      text,
      onChoose: (place: HeadPlace) => this.choose(place),
      onSwitch: (change: readonly Change[]) => this.switch(change),
    };
    this.figures = figures.map(({ make }) => make(site));
    if (legend) {
      legend.slot = legendSlot;
      this.host.append(legend);
    }
    this.resizing = new ResizeObserver(() => {
      for (const figure of this.figures) figure.draw?.();
    });
    this.resizing.observe(root);
  }

  async update(token: InsideToken): Promise<void> {
    this.removal.signal.throwIfAborted();
    const read = readToken(token);
    if (this.head && !this.isHeadKnown) checkHead(this.head, read.model.info.config);
    this.running?.abort();
    const { controller, letGo } = followingController(read.signal);
    this.running = controller;
    const isSameModel = this.token?.model === read.model;
    this.token = token;
    if (read.change) this.setChange(read.change);
    else if (!isSameModel) this.setChange([]); // the model may lack what the last one had
    this.pictures.classList.add("stale");
    try {
      const seen = await readTokens(read, controller.signal);
      controller.signal.throwIfAborted();
      await this.look(read, seen, controller.signal);
    } catch (error) {
      if (this.running === controller && !controller.signal.aborted) this.clear();
      throw error;
    } finally {
      letGo();
    }
  }

  private async look(
    { model, onProgress = () => {} }: ReadToken,
    seen: InspectedTokens,
    signal: AbortSignal,
  ): Promise<void> {
    this.begin(model, seen);
    const { change } = this;
    const passes = change.length > 0 ? 2 : 1;
    const optionsOf = (pass: number) => ({
      ...{ top: guessesNeeded, signal },
      onProgress: ({ done, total }: PromptProgress) =>
        onProgress({ stage: "reading", done: pass * total + done, total: passes * total }),
    });
    const unchanged = await model.inspect(seen.ids, optionsOf(0));
    const answer = passes > 1 ? await model.inspect(seen.ids, { ...optionsOf(1), change }) : unchanged;
    signal.throwIfAborted();
    const { guesses, layers } = answer;
    this.pictures.hidden = false;
    this.pictures.classList.remove("stale", "cleared");
    this.attention = layers;
    for (const figure of this.figures)
      figure.show?.({ tokens: seen, guesses, unchanged: unchanged.guesses, layers });
    if (this.head) this.showHead();
    else this.choose(clearestHead(layers, seen.ids.length));
    onProgress({ stage: "layers", done: layers.length, total: layers.length });
  }

  /** Prepares the pictures for a token. */
  private begin({ info: { config } }: InsideToken["model"], seen: InspectedTokens): void {
    const { nLayer, nHead } = config;
    const { ids, texts } = seen;
    this.seen = seen;
    this.attention = [];
    const token = label(texts.at(-1) ?? "");
    this.diagram.describe({ ...config, token, id: ids.at(-1) ?? 0, place: ids.length });
    for (const figure of this.figures) figure.begin?.(config);
    if (!this.head) return; // the clearest one is chosen when the model has answered
    const { layer, head } = this.head;
    this.choose({ layer: Math.min(layer, nLayer - 1), head: Math.min(head, nHead - 1) });
  }

  private choose(place: HeadPlace): void {
    this.head = place;
    this.isHeadKnown = true;
    this.showHead();
  }

  private setChange(change: readonly Change[]): void {
    this.change = change;
    for (const figure of this.figures) figure.switched?.(change);
  }

  /** The reader has switched a part. The site updates the figures if it wants to know; otherwise they show the last token again. */
  private switch(change: readonly Change[]): void {
    const { change: before, token } = this;
    this.setChange(change);
    this.pictures.classList.add("stale");
    if (this.onChange) return this.onChange(change);
    const show = (all: readonly Change[]) => token && this.update({ ...token, change: all, signal: null });
    show(change)?.catch((error: unknown) => {
      const isAbort = error instanceof DOMException && error.name === "AbortError";
      if (!isAbort) show(before)?.catch(() => undefined); // if that fails, too, the pictures are hidden
    });
  }

  private showHead(): void {
    const { seen, head: place } = this;
    if (!place || !seen) return;
    const { ids, texts, first } = seen;
    const attention = this.attention[place.layer];
    const look = attention && { ...place, weights: rowOf(attention, place.head, ids.length), texts, first };
    for (const figure of this.figures) figure.choose?.(place, look);
    if (look) this.onHead({ ...place, first, weights: look.weights });
  }

  clear(): void {
    this.running?.abort();
    this.seen = undefined;
    this.attention = [];
    this.pictures.classList.add("cleared");
  }

  remove(): void {
    const reason = new DOMException("the figures were removed from the page", "AbortError");
    this.removal.abort(reason);
    this.running?.abort(reason);
    this.resizing.disconnect();
    this.host.remove();
  }
}

/**
 * Draws into `element` what happens inside a model: a diagram of its parts, the guess after each layer, and the attention of its
 * heads. Nothing is drawn before the first `update`. The figures are added at the end of `element`, in a shadow tree of their own.
 * Throws an InvalidArgumentError for wrong arguments.
 */
export function showInside(element: Element, options: InsideOptions | null = {}): InsideView {
  return new Inside(readElement("element", element), options);
}
