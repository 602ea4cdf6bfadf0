// The views of the text by its tokens: cut at once, scored in the background, told of where one points or the caret is.
import { findClusterBreak, StateEffect, type Extension, type Range, type Text } from "@codemirror/state";
import {
  Decoration,
  ViewPlugin,
  type DecorationSet,
  type EditorView,
  type PluginValue,
  type ViewUpdate,
} from "@codemirror/view";
import type { Model } from "../../../src/client/index.js";
import { Asking } from "../../assistant/asking.js";
import { hide } from "../../dom/buttons.js";
import { FrameBatch } from "../../dom/frame-batch.js";
import { isTouched } from "../../dom/touch.js";
import { readAgain } from "../../assistant/prefilling.js";
import { tokenizeText, type CutToken } from "../../assistant/cut.js";
import { predict, type RankedToken } from "../../assistant/predict.js";
import "./seeing.css";
import {
  addScores,
  isSameToken,
  keepScores,
  scoredField,
  setScored,
  tokenAt,
  tokensBefore,
  type Scored,
} from "../../document/scored.js";
import { TextScores, withScores } from "../../assistant/text-scores.js";
import { emptyPanel, showScore, showToken, type ToldToken } from "./token-panel.js";
import { modeField, viewMode, type Mode } from "../../document/view-mode.js";
import { phrase } from "../../language/editor.js";
import { formatShare } from "../../language/numbers.js";
import { keepTold } from "../../language/told.js";

export interface SeeingSetting {
  panel: HTMLElement;
  /** The model, where there is one already and it is not at work: nobody asked for it to be loaded. */
  idleModel: () => Promise<Model | undefined> | undefined;
  hasModel: () => boolean;
  /** Calls `listener` when there is another model, or none, until what it gives is called. */
  onModelChange: (listener: () => void) => () => void;
  /** Says how the scoring goes. */
  tell: (sentence: () => string) => void;
  fail: (error: unknown) => void;
  /** Goes on with another token in the place of one. */
  branch: (from: number, token: RankedToken) => void;
}

/** After the last edit, and after the pointer came to a token. */
const cutAfterMs = 400;
const predictAfterMs = 80;
/** After the cut: what is expected at the caret is asked for first, as the model has read the text up to there. */
const leastScoreAfterMs = 100;
/**
 * Scoring takes what the cache has of the text from the edit on, which lets Tab answer at once. So after an edit it waits as
 * long as it will take, by the last time, up to this: who presses Tab within that waits no longer than without a view.
 */
const mostScoreAfterMs = 3000;

/** What a view needs to know of the tokens; inside the model, there is a panel of its own for one of them. */
function needOf(mode: Mode): "nothing" | "cut" | "scores" {
  if (mode === "text") return "nothing";
  return mode === "inside" ? "cut" : "scores";
}

/** The token that is told, and marked in the text. */
interface Told {
  token: Range<Scored>;
  prediction: ToldToken["prediction"];
}

/** One points at what stands before this offset. */
const point = StateEffect.define<number>();

const toldMark = Decoration.mark({ class: "told" });

/** The end of the character that lies under the pointer; undefined where none does. */
function characterUnder(view: EditorView, { x, y }: MouseEvent): number | undefined {
  const found = view.posAndSideAtCoords({ x, y });
  if (!found) return undefined;
  const { pos, assoc } = found;
  const line = view.state.doc.lineAt(pos);
  const step = (forward: boolean) => line.from + findClusterBreak(line.text, pos - line.from, forward);
  const [from, to] = assoc < 0 ? [step(false), pos] : [pos, step(true)];
  const box = view.coordsForChar(from);
  const between = view.defaultLineHeight / 2; // one points between two lines, too
  const isUnder =
    box && x >= box.left && x <= box.right && y >= box.top - between && y <= box.bottom + between;
  return isUnder ? to : undefined;
}

class Seeing implements PluginValue {
  readonly view: EditorView;
  private readonly setting: SeeingSetting;
  private readonly cutting: Asking;
  private readonly scoring: Asking;
  private readonly predicting: Asking;
  private readonly forget: () => void;
  private readonly scores = new TextScores();
  /** Where the tokens are in the text as it was then. */
  private cut: { model: Model; doc: Text; tokens: readonly CutToken[] } | undefined;
  private told: Told | undefined;
  /** Whether it is told because one points at it: a press that sets the caret beside it changes nothing. */
  private isPointed = false;
  /** Of the last scoring. */
  private msPerToken = 0;

  constructor(view: EditorView, setting: SeeingSetting) {
    this.view = view;
    this.setting = setting;
    this.cutting = new Asking(setting);
    this.scoring = new Asking(setting);
    this.predicting = new Asking(setting);
    setting.panel.tabIndex = -1; // keeps the focus where what had it goes
    keepTold(setting.panel, () => this.told && this.show(this.told));
    this.forget = setting.onModelChange(() => {
      this.empty();
      this.view.dispatch({ effects: setScored.of([]) });
      this.cut = undefined;
      if (this.need !== "nothing") this.cutSoon(0, 0);
    });
  }

  private get need(): ReturnType<typeof needOf> {
    return needOf(this.view.state.field(modeField));
  }

  get decorations(): DecorationSet {
    const { told } = this;
    return told ? Decoration.set(toldMark.range(told.token.from, told.token.to)) : Decoration.none;
  }

  update({ startState, state, docChanged, selectionSet, transactions }: ViewUpdate): void {
    const { need } = this;
    const isNew = needOf(startState.field(modeField)) !== need;
    if (isNew) this.begin();
    if (need === "nothing") return;
    if (isNew) this.cutSoon(0, 0);
    else if (docChanged) this.cutSoon(cutAfterMs, mostScoreAfterMs);
    if (need === "cut") return;
    // What was expected there held for the text as it was.
    if (docChanged) return this.empty();
    const pointed = transactions.flatMap(({ effects }) => effects).find((effect) => effect.is(point));
    const { head } = state.selection.main;
    const { token } = this.told ?? {};
    const isBeside = this.isPointed && token && head >= token.from && head <= token.to;
    if (pointed) this.tell(pointed.value);
    else if (isNew || (selectionSet && !isBeside)) {
      this.isPointed = false;
      this.tell(head);
    } else if (startState.field(scoredField) !== state.field(scoredField)) this.tell(token?.to ?? head);
  }

  destroy(): void {
    this.forget();
    this.cutting.stop();
    this.scoring.stop();
    this.empty();
  }

  /** Another view, which needs something else. */
  private begin(): void {
    const { panel } = this.setting;
    this.cutting.stop();
    this.scoring.stop();
    this.empty();
    if (this.need === "scores") panel.hidden = false;
    else hide(panel, this.view.contentDOM);
    if (this.need !== "nothing" && !this.setting.idleModel()) this.sayWaiting();
  }

  /** Of the token that is told, and what is asked of it. */
  private empty(): void {
    this.predicting.stop();
    this.told = undefined;
    this.isPointed = false;
    emptyPanel(this.setting.panel);
  }

  private readonly sayWaiting = (): void =>
    this.setting.tell(() => phrase(this.setting.hasModel() ? "awaitsWriting" : "awaitsModel"));

  /** Cuts the text `ms` later, and scores it `mostWaitMs` after that at most, or a little later. */
  private cutSoon(ms: number, mostWaitMs: number): void {
    this.scoring.stop();
    this.cutting.soon(ms, (model, signal) => this.cutText(model, mostWaitMs, signal), this.sayWaiting);
  }

  /** Takes hardly any time: so the tokens are there at once, however long scoring them takes. */
  private async cutText(model: Model, mostWaitMs: number, signal: AbortSignal): Promise<void> {
    const { tell } = this.setting;
    if (!model.info.hasTokenizer) return tell(() => phrase("noTokenizer"));
    const { doc } = this.view.state;
    if (this.cut?.model !== model || this.cut.doc !== doc) {
      const { ids, tokens } = await tokenizeText(model, doc.toString(), signal);
      signal.throwIfAborted();
      this.cut = { model, doc, tokens };
      this.scores.begin(model, ids);
      const before = this.view.state.field(scoredField);
      const ranges = keepScores(before, withScores(tokens, this.scores.known));
      this.view.dispatch({ effects: setScored.of(ranges) });
    }
    if (this.need === "cut" || this.scores.isComplete) return this.sayCount();
    this.sayShare();
    const waitMs = Math.min(this.msPerToken * this.scores.unknown, mostWaitMs);
    const ms = Math.max(waitMs, leastScoreAfterMs);
    this.scoring.soon(ms, (_, scoringSignal) => this.score(scoringSignal), this.sayWaiting);
  }

  private sayCount(): void {
    this.setting.tell(() => phrase("scored", { count: this.scores.total }));
  }

  private sayShare(): void {
    const share = this.scores.known.length / this.scores.total;
    this.setting.tell(() => phrase("scoring", { share: formatShare(share) }));
  }

  /** Shows the scores as they come. */
  private async score(signal: AbortSignal): Promise<void> {
    const { scores, view } = this;
    const start = performance.now();
    const { unknown } = scores;
    const tokens = this.cut?.tokens ?? [];
    let shown = tokens.findIndex(({ first, ids }) => first + ids.length > scores.known.length);
    const batch = new FrameBatch(() => {
      if (signal.aborted) return;
      const isKnown = ({ first, ids }: CutToken) => first + ids.length <= scores.known.length;
      const begin = shown;
      for (let next = tokens[shown]; next && isKnown(next); next = tokens[++shown]);
      if (shown === begin) return;
      view.dispatch({ effects: addScores.of(withScores(tokens.slice(begin, shown), scores.known)) });
      this.sayShare();
    });
    try {
      await scores.complete(signal, () => batch.request());
      batch.flush();
      this.sayCount();
    } finally {
      const ms = (performance.now() - start) / unknown;
      this.msPerToken = signal.aborted ? Math.max(ms, this.msPerToken) : ms;
      view.dispatch({ effects: readAgain.of(null) });
    }
  }

  /** Tells of the token under the pointer, if there is another one. */
  pointAt(event: MouseEvent): void {
    if (this.need !== "scores") return;
    const offset = characterUnder(this.view, event);
    const token = offset !== undefined && tokenAt(this.view.state.field(scoredField), offset);
    if (!token || token.from >= offset) return;
    if (!this.told || !isSameToken(this.told.token, token)) this.view.dispatch({ effects: point.of(offset) });
    this.isPointed = true;
  }

  /** Keys move the caret, of which is told again. */
  leavePointer(): void {
    this.isPointed = false;
  }

  /** Tells of the token that `offset` is in, or right behind, and asks what else could stand there. */
  private tell(offset: number): void {
    const token = tokenAt(this.view.state.field(scoredField), offset);
    if (!token || token.value === this.told?.token.value) return;
    const { told } = this;
    if (told?.prediction && isSameToken(told.token, token)) {
      told.token = token;
      return showScore(this.setting.panel, this.shownOf(told));
    }
    this.told = { token, prediction: token.value.index > 0 ? "asked" : undefined };
    this.show(this.told);
    this.predicting.soon(predictAfterMs, (model, signal) => this.predict(model, signal));
  }

  private shownOf({ token: { from, to, value }, prediction }: Told): ToldToken {
    return { text: this.view.state.sliceDoc(from, to), scored: value, prediction };
  }

  private show(told: Told): void {
    showToken(this.setting.panel, this.shownOf(told), (chosen) => {
      // The panel is emptied. Where there is a keyboard on the screen, that stays away.
      if (!isTouched()) this.view.focus();
      this.setting.branch(told.token.from, chosen);
    });
  }

  private async predict(model: Model, signal: AbortSignal): Promise<void> {
    const { told } = this;
    if (!told) return;
    const before = tokensBefore(this.view.state.field(scoredField), told.token.from);
    try {
      // Where an edit has left a gap, the text is cut anew soon.
      told.prediction =
        before &&
        (await predict(
          model,
          before.flatMap(({ value }) => value.ids),
          signal,
        ));
      signal.throwIfAborted();
      this.show(told);
    } finally {
      if (before?.length) this.view.dispatch({ effects: readAgain.of(null) });
    }
  }
}

export function seeing(setting: SeeingSetting): Extension {
  const plugin = ViewPlugin.define((view) => new Seeing(view, setting), {
    decorations: (value) => value.decorations,
    eventHandlers: {
      mousemove(event) {
        this.pointAt(event);
      },
      keydown() {
        this.leavePointer();
      },
    },
  });
  return [viewMode, plugin];
}
