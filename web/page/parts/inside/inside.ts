// Inside: the figures of the package for the token at the caret. The model inspects it once the caret rests there; an edit or
// another model clears the figures.
import type { EditorView, ViewUpdate } from "@codemirror/view";
import type { Signal } from "@preact/signals-core";
import type { Change, Model } from "../../../src/client/index.js";
import { showInside, type HeadPlace, type InsideView } from "../../../src/figures/index.js";
import { visible } from "../../../src/shared/visible.js";
import type { PageRequest, RequestQueue } from "../../assistant/request-queue.js";
import { hideKeepingFocus, plainButton } from "../../dom/buttons.js";
import { make } from "../../dom/make.js";
import { attentionBands, setAttention } from "../../document/attention.js";
import { countTokens, scoredField, tokenAt, tokensBefore, type Scored } from "../../document/scored.js";
import { phrase } from "../../language/inside.js";
import { currentLanguage } from "../../language/translation.js";
import { onChange } from "../../state/page-state.js";
import "./inside.css";

export interface InsideSetting {
  queue: RequestQueue;
  /** The parts of the model that are switched off. */
  change: Signal<readonly Change[]>;
  /** Calls `listener` when another model is loaded or the model is gone. Returns a function that ends that. */
  onModelChange: (listener: () => void) => () => void;
  isWriting: () => boolean;
  fail: (error: unknown) => void;
}

/** Milliseconds that the caret must rest. */
const lookAfterMs = 120;

export class Inside {
  private readonly view: EditorView;
  private readonly setting: InsideSetting;
  private readonly request: PageRequest;
  private readonly forget: readonly (() => void)[];
  private readonly token: HTMLElement;
  private readonly status: HTMLElement;
  private readonly progress: HTMLProgressElement;
  /** Cancels the inspection, or starts it again. */
  private readonly button: HTMLButtonElement;
  private readonly before: HTMLButtonElement;
  private readonly element: HTMLElement;
  private figures: InsideView;
  /** The figures have shown a head, and keep it within the size of the next model. */
  private hasShownHead = false;
  /** The selected head of the loaded model. */
  head: HeadPlace | undefined;
  private isOpen = true;
  private isBusy = false;
  private shown: Scored | undefined;
  private hasSeen = false;

  /** `head` is shown first. */
  constructor(view: EditorView, root: HTMLElement, setting: InsideSetting, head?: HeadPlace) {
    this.view = view;
    this.setting = setting;
    this.request = setting.queue.requests("inside", (error) => {
      this.end(phrase("failed"));
      setting.fail(error);
    });
    this.token = make("p", { className: "chosen-token" });
    this.before = plainButton(phrase("before"), () => this.step(-1));
    const after = plainButton(phrase("after"), () => this.step(1));
    const buttons = make("div", { className: "buttons" }, this.before, after);
    this.status = make("p", { className: "quiet", role: "status" });
    this.progress = make("progress", { ariaLabel: phrase("progress"), max: 1 });
    this.button = plainButton("", () => (this.isBusy ? this.cancel() : this.lookSoon(0)));
    this.element = make("div", { className: "inside-figures" });
    root.replaceChildren(
      make("h2", {}, phrase("title")),
      make("p", { className: "quiet" }, phrase("intro")),
      make("div", { className: "row" }, this.token, buttons),
      make("div", { className: "row inside-state" }, this.status, this.progress, this.button),
      this.element,
    );
    this.figures = this.makeFigures(head);
    this.head = head;
    const forgetModel = setting.onModelChange(() => {
      view.dispatch({ effects: setAttention.of(null) });
      this.head = undefined;
      if (!this.hasShownHead) {
        this.figures.remove(); // they would refuse a model without the head that comes first
        this.figures = this.makeFigures();
      }
      this.drop();
      this.lookSoon(lookAfterMs);
    });
    this.forget = [forgetModel, onChange(setting.change, () => this.lookSoon(0))];
    this.open();
  }

  private makeFigures(head?: HeadPlace): InsideView {
    const { language, words } = currentLanguage.peek();
    return showInside(this.element, {
      language,
      words: words?.figures,
      head,
      legend: this.makeLegend(),
      onHead: (attention) => {
        this.hasShownHead = true;
        this.head = attention;
        this.view.dispatch({ effects: setAttention.of(attention) });
      },
      onChange: (change) => (this.setting.change.value = change),
    });
  }

  /** The legend of the text's tints. */
  private makeLegend(): HTMLElement {
    const swatches = attentionBands.map((band) =>
      make("span", { className: `token look-${band}` }, phrase(`band.${band}`)),
    );
    return make("p", { className: "tints quiet" }, phrase("tints"), ...swatches);
  }

  open(): void {
    this.isOpen = true;
    this.drop();
    this.lookSoon(lookAfterMs);
  }

  /** Requests nothing until it is opened again. */
  close(): void {
    this.isOpen = false;
    this.drop();
  }

  destroy(): void {
    this.request.stop();
    for (const forget of this.forget) forget();
    this.figures.remove();
  }

  update({ startState, state, docChanged, selectionSet }: ViewUpdate): void {
    if (!this.isOpen) return;
    const isCut = startState.field(scoredField) !== state.field(scoredField);
    if (docChanged) this.drop();
    if (!docChanged && !selectionSet && !isCut) return;
    const token = this.tokenHere();
    if (token && token.value === this.shown) return;
    this.element.classList.add("stale"); // until the pictures of this token arrive
    this.lookSoon(lookAfterMs);
  }

  private tokenHere() {
    const { state } = this.view;
    return tokenAt(state.field(scoredField), state.selection.main.head);
  }

  /** Inspects the token at the caret after `ms`, instead of the current one. */
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
    // While the tokens are unknown, this is called again when they arrive.
    if (!tokens) return this.rest(state.doc.length === 0 ? phrase("empty") : phrase("cutting"), false);
    const next = this.tokenBehind(tokens.at(-1)?.to ?? 0);
    const shown = next ? [...tokens, next] : tokens;
    const ids = shown.flatMap(({ value }) => value.ids);
    const texts = shown.flatMap(({ from, to, value }) => value.ids.map(() => state.sliceDoc(from, to)));
    const position = ids.length - (next?.value.ids.length ?? 0) - 1;
    const { nLayer, nHead, nPositions } = model.info.config;
    this.begin(texts[position] ?? "", position, tokens.at(-1)?.value);
    await this.figures.update({
      ...{ model, ids, position, texts, signal },
      change: this.setting.change.peek(),
      onProgress: ({ stage, done, total }) => {
        if (stage === "reading") this.progress.value = done / total;
      },
    });
    this.hasSeen = true;
    this.element.classList.remove("stale");
    const found = phrase("seen", { layers: nLayer, heads: nHead });
    const isCut = position >= nPositions;
    this.rest(isCut ? `${found} ${phrase("window", { tokens: nPositions })}` : found, false);
  }

  /** The tokens up to the one at the caret; undefined without such a token, or while the tokens are unknown. */
  private tokensToCaret() {
    const set = this.view.state.field(scoredField);
    const token = this.tokenHere();
    return token && tokensBefore(set, token.to);
  }

  /** The token that begins at `offset`. */
  private tokenBehind(offset: number) {
    const { state } = this.view;
    return offset < state.doc.length ? tokenAt(state.field(scoredField), offset + 1) : undefined;
  }

  /** Shows which token the model inspects. */
  private begin(text: string, position: number, scored: Scored | undefined): void {
    const { state } = this.view;
    this.shown = scored;
    this.hasSeen = false;
    this.isBusy = true;
    this.token.textContent = phrase("token", {
      token: visible(text),
      place: position + 1,
      last: countTokens(state.field(scoredField), state.doc.length),
    });
    this.status.textContent = phrase("reading");
    this.progress.hidden = this.button.hidden = false;
    this.progress.value = 0;
    this.button.textContent = phrase("cancel");
  }

  /** Shows the reason why nothing is running, or the result. */
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

  /** Ends the inspection before the layers are shown. */
  private end(sentence: string): void {
    if (!this.hasSeen) this.figures.clear();
    this.rest(sentence, true);
  }

  /** Clears the pictures but keeps their room, so that nothing moves. */
  private drop(): void {
    this.request.stop();
    this.shown = undefined;
    this.hasSeen = false;
    this.figures.clear();
    this.token.textContent = phrase("noToken");
    this.rest("", false);
  }

  /** Moves the caret to the previous or next token. */
  private step(by: -1 | 1): void {
    const { state } = this.view;
    const here = this.tokenHere();
    if (!here) return;
    const set = state.field(scoredField);
    const target = by < 0 ? here.from > 0 && tokenAt(set, here.from) : tokenAt(set, here.to + 1);
    if (!target || target.value === here.value) return;
    const userEvent = "select.pointer"; // as a press of the token: a look leaves the place of writing
    this.view.dispatch({ selection: { anchor: target.to }, scrollIntoView: true, userEvent });
  }
}
