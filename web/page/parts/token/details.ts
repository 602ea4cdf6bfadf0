// The details of one token and its alternatives, shown at the pressed token, or at the token that the caret reached.
import { Prec, type Extension, type Range } from "@codemirror/state";
import {
  Decoration,
  EditorView,
  ViewPlugin,
  keymap,
  type DecorationSet,
  type PluginValue,
  type ViewUpdate,
} from "@codemirror/view";
import type { Model } from "../../../src/client/index.js";
import type { PageRequest, RequestQueue } from "../../assistant/request-queue.js";
import { hideKeepingFocus } from "../../dom/buttons.js";
import { keepTranslated } from "../../language/keep-translated.js";
import { isTouched } from "../../dom/touch.js";
import { prefillAgain } from "../../assistant/prefilling.js";
import { placePanel } from "./place-panel.js";
import { predict, type RankedToken } from "../../assistant/predict.js";
import { addScores, isSameToken, scoredField, tokensBefore, type Scored } from "../../document/scored.js";
import { scoreToken, windowOf } from "../../assistant/text-scores.js";
import { showDetails, detailsField, tokenWithDetails } from "./details-field.js";
import { moveInList, showScore, showToken, type ShownToken } from "./token-panel.js";
import { characterUnder } from "./under-pointer.js";
import { margin } from "../../document/follower.js";
import { hasPanel, modeField, wordStart } from "../../document/view-mode.js";
import { pressedField, writeHere } from "../../document/writing-place.js";

export interface DetailsSetting {
  panel: HTMLElement;
  /** Holds the panel, and covers the lower end of the window. */
  dock: HTMLElement;
  queue: RequestQueue;
  hasModel: () => boolean;
  fail: (error: unknown) => void;
  /** Replaces a token with another one and continues from there. */
  branch: (from: number, token: RankedToken) => void;
  /** Receives the focus when the panel closes on a touch screen. Focusing the text would open the keyboard. */
  next: HTMLElement;
}

/** Milliseconds after the caret reached a token. */
const predictAfterMs = 80;

/** The part of the window's height that stays free for the text between the token and a sheet. */
const freeShare = 1 / 8;

/** The token that is shown and marked in the text. */
interface Shown {
  token: Range<Scored>;
  prediction: ShownToken["prediction"];
}

const shownMark = Decoration.mark({ class: "shown-token" });

class Details implements PluginValue {
  private readonly view: EditorView;
  private readonly setting: DetailsSetting;
  private readonly predicting: PageRequest;
  private shown: Shown | undefined;
  /** Whether a key opened the panel, which then receives the focus. */
  private isAwaited = false;
  /** The word that was looked at last in a view with a panel of its own. */
  private looked: { from: number; to: number } | undefined;
  private readonly growth = new ResizeObserver(() => this.reveal());

  constructor(view: EditorView, setting: DetailsSetting) {
    this.view = view;
    this.setting = setting;
    this.predicting = setting.queue.requests("details", setting.fail);
    const { panel } = setting;
    panel.tabIndex = -1; // the panel has the focus until its list is filled
    panel.addEventListener("keydown", this.onKey);
    addEventListener("scroll", this.place, { passive: true });
    addEventListener("resize", this.place);
    visualViewport?.addEventListener("resize", this.place);
    document.addEventListener("click", this.leave);
    this.growth.observe(setting.dock);
    keepTranslated(panel, () => this.shown && this.show(this.shown));
  }

  destroy(): void {
    this.close();
    this.setting.panel.removeEventListener("keydown", this.onKey);
    removeEventListener("scroll", this.place);
    removeEventListener("resize", this.place);
    visualViewport?.removeEventListener("resize", this.place);
    document.removeEventListener("click", this.leave);
    this.growth.disconnect();
  }

  /** Marks the token without the spaces before it, as the views tint it; in the view of tokens, with them. */
  get decorations(): DecorationSet {
    if (!this.shown) return Decoration.none;
    const { from, to } = this.shown.token;
    const { state } = this.view;
    const first = state.field(modeField) === "tokens" ? from : wordStart(state.sliceDoc(from, to), from);
    return Decoration.set(shownMark.range(first, to));
  }

  update({ state, docChanged, geometryChanged }: ViewUpdate): void {
    if (docChanged || state.field(pressedField) === null) this.looked = undefined;
    const token = tokenWithDetails(state);
    const { shown } = this;
    if (!token) {
      if (!state.field(detailsField)) this.isAwaited = false;
      if (shown) this.close();
      return;
    }
    if (token.value === shown?.token.value && token.from === shown.token.from) {
      if (geometryChanged) this.place();
      return;
    }
    if (shown?.prediction && isSameToken(shown.token, token)) {
      shown.token = token;
      return showScore(this.setting.panel, this.shownToken(shown));
    }
    this.shown = { token, prediction: token.value.index > 0 ? "asked" : undefined };
    this.open(this.shown);
    this.predicting.schedule(predictAfterMs, (model, signal) => this.predict(model, signal));
  }

  /** Shows the token under the pointer; none if there is no token or text is selected, or the view has a panel of its own. */
  press(event: MouseEvent): void {
    const { view } = this;
    this.readSelection();
    const { state } = view;
    const offset = state.selection.main.empty ? characterUnder(view, event) : undefined;
    const isApart = hasPanel(state.field(modeField));
    const shown = isApart ? this.looked : tokenWithDetails(state);
    const isAgain = shown !== undefined && offset !== undefined && offset > shown.from && offset <= shown.to;
    const isLook = offset !== undefined && !isAgain && this.setting.hasModel();
    if (isLook && isApart) this.looked = state.wordAt(offset) ?? { from: offset - 1, to: offset };
    const details = showDetails.of(isApart ? null : (offset ?? null));
    view.dispatch({ effects: [details, ...(isLook ? [] : [writeHere.of(null)])] });
  }

  /** Reads where a finger put the caret. The editor does so only after the press: drawing the details would undo it. */
  private readSelection(): void {
    const { view } = this;
    const { anchorNode, anchorOffset = 0, focusNode, focusOffset = 0 } = getSelection() ?? {};
    const isInText = (node?: Node | null): node is Node => node != null && view.contentDOM.contains(node);
    if (!isInText(anchorNode) || !isInText(focusNode)) return;
    const anchor = view.posAtDOM(anchorNode, anchorOffset);
    const head = view.posAtDOM(focusNode, focusOffset);
    const { main } = view.state.selection;
    if (anchor !== main.anchor || head !== main.head)
      view.dispatch({ selection: { anchor, head }, userEvent: "select.pointer" });
  }

  /** Moves the focus to the panel, and opens it at the caret if necessary. */
  enter(): boolean {
    const { state } = this.view;
    const { head } = state.selection.main;
    if (hasPanel(state.field(modeField)) || head === 0) return false;
    this.isAwaited = true;
    if (this.shown) this.takeFocus();
    else this.view.dispatch({ effects: showDetails.of(head), scrollIntoView: true });
    return true;
  }

  /** Closes the panel; returns whether it was open. */
  dismiss(): boolean {
    if (!this.view.state.field(detailsField)) return false;
    this.view.dispatch({ effects: showDetails.of(null) });
    return true;
  }

  /** Waits until a press elsewhere is done: closing a sheet may move the pressed element. */
  private readonly leave = ({ target }: MouseEvent): void => {
    const inside = [this.setting.panel, this.view.dom];
    if (target instanceof Node && inside.some((part) => part.contains(target))) return;
    this.dismiss();
  };

  private readonly onKey = (event: KeyboardEvent): void => {
    const { panel } = this.setting;
    if (event.key === "Escape") {
      event.stopPropagation();
      this.view.focus();
      this.dismiss();
    } else if (moveInList(panel, event.key)) event.preventDefault();
  };

  private takeFocus(): void {
    if (!this.isAwaited) return;
    this.isAwaited = false;
    const { panel } = this.setting;
    (panel.querySelector<HTMLElement>("li button:enabled") ?? panel).focus();
  }

  private open(shown: Shown): void {
    this.setting.panel.hidden = false;
    this.show(shown);
    this.takeFocus();
  }

  /** Scrolls to the token, and to the lines after it, if a sheet covers them. */
  private reveal(): void {
    const { shown, view } = this;
    if (!shown || !this.setting.dock.classList.contains("has-sheet")) return;
    const word = view.coordsAtPos(shown.token.to);
    // Near the end of the text, less: the page would scroll beyond the text, and the sheet with it.
    const after = word ? view.contentDOM.getBoundingClientRect().bottom - word.bottom - 2 * margin : 0;
    const yMargin = Math.max(0, Math.min(after, window.innerHeight * freeShare));
    view.dispatch({ effects: EditorView.scrollIntoView(shown.token.to, { y: "nearest", yMargin }) });
  }

  private close(): void {
    const { panel, dock, next } = this.setting;
    this.predicting.stop();
    this.shown = undefined;
    dock.classList.remove("has-sheet");
    hideKeepingFocus(panel, isTouched() ? next : this.view.contentDOM);
    panel.replaceChildren();
  }

  private readonly place = (): void => {
    const { shown } = this;
    if (shown) placePanel(this.view, this.setting.panel, this.setting.dock, shown.token.from);
  };

  private shownToken({ token: { from, to, value }, prediction }: Shown): ShownToken {
    return { text: this.view.state.sliceDoc(from, to), scored: value, prediction };
  }

  private show(shown: Shown): void {
    showToken(this.setting.panel, this.shownToken(shown), {
      branch: (chosen) => this.setting.branch(shown.token.from, chosen),
      close: () => this.dismiss(),
    });
    this.place();
  }

  private async predict(model: Model, signal: AbortSignal): Promise<void> {
    const { shown, view } = this;
    if (!shown) return;
    const { token } = shown;
    // After an edit left a gap, the text is tokenized again soon.
    const before = tokensBefore(view.state.field(scoredField), token.from);
    const ids = before?.flatMap(({ value }) => value.ids) ?? [];
    // The same context as for scoring: with another one, the probability here would differ from the text's.
    const context = ids.slice(windowOf(ids.length, model.info.config.nPositions));
    try {
      shown.prediction = before && (await predict(model, context, signal));
      signal.throwIfAborted();
      this.show(shown);
      // In the plain view the tokens are not scored, except this one.
      const isScored = token.value.logprob !== undefined || view.state.field(modeField) !== "text";
      if (context.length === 0 || isScored) return;
      const scored = await scoreToken(model, context, token.value, signal);
      signal.throwIfAborted();
      view.dispatch({ effects: addScores.of([scored.range(token.from, token.to)]) });
    } finally {
      if (context.length > 0) view.dispatch({ effects: prefillAgain.of(null) });
    }
  }
}

export function details(setting: DetailsSetting): Extension {
  const plugin = ViewPlugin.define((view) => new Details(view, setting), {
    decorations: (value) => value.decorations,
    eventHandlers: {
      click(event) {
        this.press(event);
      },
    },
  });
  const keys = keymap.of([
    { key: "Alt-ArrowDown", run: (view) => view.plugin(plugin)?.enter() ?? false },
    { key: "Escape", run: (view) => view.plugin(plugin)?.dismiss() ?? false, stopPropagation: true },
  ]);
  return [detailsField, plugin, Prec.high(keys)];
}
