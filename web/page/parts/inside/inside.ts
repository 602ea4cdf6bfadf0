// Inside: how the model gets from the token at the caret to what comes next. Looked at once the caret rests on it, and
// dropped with the next edit, caret or model.
import type { EditorView, ViewUpdate } from "@codemirror/view";
import type { Model, ModelConfig } from "../../../src/client/index.js";
import type { PageRequest, RequestQueue } from "../../assistant/request-queue.js";
import { hideKeepingFocus, plainButton } from "../../dom/buttons.js";
import { coveredBy } from "../../document/follower.js";
import { elements as ui } from "../../dom/elements.js";
import { setAttention } from "../../document/attention.js";
import { countTokens, scoredField, tokenAt, tokensBefore, type Scored } from "../../document/scored.js";
import { phrase } from "../../language/inside.js";
import { add } from "./add.js";
import { Arcs } from "./arcs.js";
import { Diagram } from "./diagram.js";
import { label } from "./figure.js";
import { rowOf } from "./attention-weights.js";
import "./inside.css";
import { Lens } from "./lens.js";
import { lastTokens, inspectLayers } from "./inspect-layers.js";
import { Overview, type HeadPlace } from "./overview.js";

export interface InsideSetting {
  queue: RequestQueue;
  /** Calls `listener` when there is another model, or none, until what it gives is called. */
  onModelChange: (listener: () => void) => () => void;
  isWriting: () => boolean;
  fail: (error: unknown) => void;
}

/** After the caret has come to rest. */
const lookAfterMs = 120;

/** What has been seen of a token. */
interface Seen {
  config: ModelConfig;
  ids: readonly number[];
  first: number;
  texts: readonly string[];
  /** Of each layer, [nHead, ids]; those that have come. */
  attention: (Float32Array | undefined)[];
}

export class Inside {
  private readonly view: EditorView;
  private readonly setting: InsideSetting;
  private readonly request: PageRequest;
  private readonly forget: () => void;
  private readonly resizing: ResizeObserver;
  private readonly head: HTMLElement;
  private readonly status: HTMLElement;
  private readonly progress: HTMLProgressElement;
  /** Ends what is under way, and begins it again. */
  private readonly button: HTMLButtonElement;
  private readonly pictures: HTMLElement;
  private readonly before: HTMLButtonElement;
  private readonly diagram: Diagram;
  private readonly lens: Lens;
  private readonly arcs: Arcs;
  private readonly overview: Overview;
  private readonly layers: HTMLSelectElement;
  private readonly heads: HTMLSelectElement;
  private isOpen = true;
  private isBusy = false;
  private shown: Scored | undefined;
  private seen: Seen | undefined;
  /** The head that is chosen. */
  place: HeadPlace | undefined;

  constructor(view: EditorView, root: HTMLElement, setting: InsideSetting, place?: HeadPlace) {
    this.view = view;
    this.place = place;
    this.setting = setting;
    this.request = setting.queue.requests("inside", (error) => {
      this.end(phrase("failed"));
      setting.fail(error);
    });
    root.replaceChildren();
    add(root, "h2", { textContent: phrase("title") });
    add(root, "p", { className: "quiet", textContent: phrase("intro") });
    const chosen = add(root, "div", { className: "row" });
    this.head = add(chosen, "p", { className: "chosen-token" });
    const buttons = add(chosen, "div", { className: "buttons" });
    this.before = plainButton(phrase("before"), () => this.step(-1));
    buttons.append(
      this.before,
      plainButton(phrase("after"), () => this.step(1)),
    );
    const state = add(root, "div", { className: "row inside-state" });
    this.status = add(state, "p", { className: "quiet", role: "status" });
    this.progress = add(state, "progress", { ariaLabel: phrase("progress"), max: 1 });
    this.button = plainButton("", () => (this.isBusy ? this.cancel() : this.lookSoon(0)));
    state.append(this.button);
    this.diagram = new Diagram(root);
    this.pictures = add(root, "div", { className: "inside-pictures" });
    this.lens = new Lens(this.pictures, this.diagram);
    this.arcs = new Arcs(this.pictures, this.diagram);
    this.overview = new Overview(this.pictures, this.diagram, (place) => this.choose(place));
    this.layers = this.addChoice(phrase("layer"), (layer, { head }) => ({ layer, head }));
    this.heads = this.addChoice(phrase("head"), (head, { layer }) => ({ layer, head }));
    this.resizing = new ResizeObserver(() => {
      root.style.setProperty("--dock", `${coveredBy(ui.dock)}px`);
      this.lens.draw();
      this.arcs.draw();
    });
    this.resizing.observe(root);
    this.resizing.observe(ui.dock);
    this.forget = setting.onModelChange(() => {
      view.dispatch({ effects: setAttention.of(null) });
      this.drop();
      this.lookSoon(lookAfterMs);
    });
    this.pictures.hidden = true;
    this.open();
  }

  /** A list to choose a layer or a head from. */
  private addChoice(
    name: string,
    placeOf: (index: number, place: HeadPlace) => HeadPlace,
  ): HTMLSelectElement {
    const choice = add(add(this.arcs.controls, "label", { textContent: `${name} ` }), "select");
    choice.addEventListener("change", () => {
      if (this.place) this.choose(placeOf(choice.selectedIndex, this.place));
    });
    return choice;
  }

  open(): void {
    this.isOpen = true;
    this.drop();
    this.lookSoon(lookAfterMs);
  }

  /** Nothing is asked for until it is opened again. */
  close(): void {
    this.isOpen = false;
    this.drop();
  }

  destroy(): void {
    this.request.stop();
    this.forget();
    this.resizing.disconnect();
  }

  update({ startState, state, docChanged, selectionSet }: ViewUpdate): void {
    if (!this.isOpen) return;
    const isCut = startState.field(scoredField) !== state.field(scoredField);
    if (docChanged) this.drop();
    if (!docChanged && !selectionSet && !isCut) return;
    const token = this.tokenHere();
    if (token && token.value === this.shown) return;
    this.pictures.classList.add("stale"); // until those of this token come
    this.lookSoon(lookAfterMs);
  }

  private tokenHere() {
    const { state } = this.view;
    return tokenAt(state.field(scoredField), state.selection.main.head);
  }

  /** Looks at what is at the caret by then, instead of what is looked at now. */
  private lookSoon(ms: number): void {
    if (!this.isOpen) return;
    this.request.schedule(
      ms,
      (model, signal) => this.look(model, signal),
      () => this.rest(this.setting.isWriting() ? phrase("writing") : phrase("awaitsModel"), false),
    );
  }

  private async look(model: Model, signal: AbortSignal): Promise<void> {
    const { state } = this.view;
    if (!model.info.hasTokenizer) return this.rest(phrase("noTokenizer"), false);
    const tokens = this.tokensToCaret();
    // Where it is not known yet how the text is cut, this is called again once it is.
    if (!tokens) return this.rest(state.doc.length === 0 ? phrase("empty") : phrase("cutting"), false);
    const { config } = model.info;
    const all = tokens.flatMap(({ value }) => value.ids);
    const texts = tokens.flatMap(({ from, to, value }) => value.ids.map(() => state.sliceDoc(from, to)));
    const { ids, first } = lastTokens(all, config.nPositions);
    const seen: Seen = { config, ids, first, texts: texts.slice(first), attention: [] };
    const { layer: shownFirst } = this.begin(seen, tokens.at(-1)?.value);
    await inspectLayers(model, ids, shownFirst, signal, {
      onRead: ({ done, total }) => (this.progress.value = done / total),
      onGuesses: (guesses) => {
        this.pictures.hidden = false;
        this.pictures.classList.remove("stale", "dropped");
        this.lens.show(guesses, this.textBehind(tokens.at(-1)?.to ?? 0));
        this.status.textContent = phrase("looking");
      },
      onAttention: (layer, attention) => this.add(seen, layer, attention),
    });
    const found = phrase("seen", { layers: config.nLayer, heads: config.nHead });
    this.rest(first > 0 ? `${found} ${phrase("window", { tokens: ids.length })}` : found, false);
  }

  /** The tokens up to the one at the caret; undefined without such a token, or while the tokens are unknown. */
  private tokensToCaret() {
    const set = this.view.state.field(scoredField);
    const token = this.tokenHere();
    return token && tokensBefore(set, token.to);
  }

  /** The token that begins at `offset`. */
  private textBehind(offset: number): string | undefined {
    const { state } = this.view;
    if (offset >= state.doc.length) return undefined;
    const next = tokenAt(state.field(scoredField), offset + 1);
    return next && state.sliceDoc(next.from, next.to);
  }

  /** Says which token is looked at, and what is to be seen of it; gives the head that is chosen. */
  private begin(seen: Seen, scored: Scored | undefined): HeadPlace {
    const { config, ids, first, texts } = seen;
    const { state } = this.view;
    const { nLayer, nHead } = config;
    this.shown = scored;
    this.seen = seen;
    this.isBusy = true;
    const place = first + ids.length;
    const token = label(texts.at(-1) ?? "");
    this.head.textContent = phrase("token", {
      token,
      place,
      last: countTokens(state.field(scoredField), state.doc.length),
    });
    this.diagram.describe({ ...config, token, id: ids.at(-1) ?? 0, place: ids.length });
    for (const [choice, count] of [
      [this.layers, nLayer],
      [this.heads, nHead],
    ] as const) {
      const options = Array.from({ length: count }, (_, index) => new Option(String(index + 1)));
      if (choice.length !== count) choice.replaceChildren(...options);
    }
    const { layer, head } = this.place ?? { layer: nLayer >> 1, head: 0 };
    this.overview.begin(nLayer, nHead);
    const chosen = { layer: Math.min(layer, nLayer - 1), head: Math.min(head, nHead - 1) };
    this.choose(chosen);
    this.status.textContent = phrase("reading");
    this.progress.hidden = this.button.hidden = false;
    this.progress.value = 0;
    this.button.textContent = phrase("cancel");
    return chosen;
  }

  private add(seen: Seen, layer: number, attention: Float32Array): void {
    seen.attention[layer] = attention;
    this.overview.add(layer, attention, seen.ids.length);
    if (layer === this.place?.layer) this.showHead();
  }

  private choose(place: HeadPlace): void {
    this.place = place;
    this.layers.selectedIndex = place.layer;
    this.heads.selectedIndex = place.head;
    this.overview.choose(place);
    this.showHead();
  }

  /** What the chosen head looks at, in the picture and in the text. */
  private showHead(): void {
    const { seen, place } = this;
    const attention = place && seen?.attention[place.layer];
    if (!attention) return this.arcs.show(undefined);
    const weights = rowOf(attention, place.head, seen.ids.length);
    this.arcs.show({ ...place, weights, texts: seen.texts, first: seen.first });
    this.view.dispatch({ effects: setAttention.of({ first: seen.first, weights }) });
  }

  /** Nothing is under way: says why, or how it went. */
  private rest(sentence: string, canRepeat: boolean): void {
    this.isBusy = false;
    this.status.textContent = sentence;
    this.progress.hidden = true;
    this.button.textContent = phrase("again");
    if (canRepeat) this.button.hidden = false;
    else hideKeepingFocus(this.button, this.before);
  }

  private cancel(): void {
    this.request.stop();
    this.end(phrase("stopped"));
  }

  /** Before all has been seen. */
  private end(sentence: string): void {
    const hasSeen = this.seen?.attention.some((attention) => attention !== undefined);
    if (!hasSeen) this.pictures.classList.add("dropped");
    this.rest(sentence, true);
  }

  /** What was seen holds no longer; its room stays, so that nothing moves. */
  private drop(): void {
    this.request.stop();
    this.shown = undefined;
    this.seen = undefined;
    this.pictures.classList.add("dropped");
    this.head.textContent = phrase("noToken");
    this.rest("", false);
  }

  /** Moves the caret to the token before, or after, the one at it. */
  private step(by: -1 | 1): void {
    const { state } = this.view;
    const here = this.tokenHere();
    if (!here) return;
    const set = state.field(scoredField);
    const target = by < 0 ? here.from > 0 && tokenAt(set, here.from) : tokenAt(set, here.to + 1);
    if (!target || target.value === here.value) return;
    this.view.dispatch({ selection: { anchor: target.to }, scrollIntoView: true });
  }
}
