// Views that tint the text by token. The text is tokenized at once and scored in the background.
import type { EditorState, Extension, Text } from "@codemirror/state";
import { ViewPlugin, type EditorView, type PluginValue, type ViewUpdate } from "@codemirror/view";
import type { Model } from "../../../src/client/index.js";
import type { PageRequest } from "../../assistant/request-queue.js";
import { tokenizeText, type CutToken } from "../../assistant/cut.js";
import { prefillAgain } from "../../assistant/prefilling.js";
import { TextScores, withScores } from "../../assistant/text-scores.js";
import { addScores, keepScores, scoredField, setScored } from "../../document/scored.js";
import { modeField, viewMode } from "../../document/view-mode.js";
import { FrameBatch } from "../../dom/frame-batch.js";
import { phrase } from "../../language/editor.js";
import { formatShare } from "../../language/quantities.js";
import { details, type DetailsSetting } from "./details.js";
import "./seeing.css";
import { detailsField } from "./details-field.js";
import type { TellScoring } from "./scoring-status.js";

export interface SeeingSetting extends DetailsSetting {
  /** Calls `listener` when another model is loaded or the model is gone. Returns a function that ends that. */
  onModelChange: (listener: () => void) => () => void;
  tell: TellScoring;
}

/** Milliseconds after the last edit. */
const cutAfterMs = 400;
/**
 * After tokenizing, the prediction at the caret is requested first, because the model's cache already holds the text
 * before it.
 */
const leastScoreAfterMs = 100;
/**
 * Scoring uses the cached part of the text before the edit, which lets Tab answer at once. So after an edit it waits for
 * as long as it took the last time, up to this limit. If you press Tab within that time, you wait no longer than without
 * a view.
 */
const mostScoreAfterMs = 3000;

/** What the view needs of the tokens. The view inside the model has its own panel for one token. */
function needOf(state: EditorState): "nothing" | "cut" | "scores" {
  const mode = state.field(modeField);
  if (mode === "sees") return "nothing";
  if (mode === "text") return state.field(detailsField) ? "cut" : "nothing";
  return mode === "inside" ? "cut" : "scores";
}

class Seeing implements PluginValue {
  readonly view: EditorView;
  private readonly setting: SeeingSetting;
  private readonly cutting: PageRequest;
  private readonly scoring: PageRequest;
  private readonly forget: () => void;
  private readonly scores = new TextScores();
  /** The tokens, with their offsets in `doc`. */
  private cut: { model: Model; doc: Text; tokens: readonly CutToken[] } | undefined;
  /** Measured during the last scoring. */
  private msPerToken = 0;

  constructor(view: EditorView, setting: SeeingSetting) {
    this.view = view;
    this.setting = setting;
    this.cutting = setting.queue.requests("cut", setting.fail);
    this.scoring = setting.queue.requests("scores", setting.fail);
    this.forget = setting.onModelChange(() => {
      this.view.dispatch({ effects: setScored.of([]) });
      this.cut = undefined;
      if (this.need !== "nothing") this.cutSoon(0, 0);
    });
  }

  private get need(): ReturnType<typeof needOf> {
    return needOf(this.view.state);
  }

  update({ startState, docChanged }: ViewUpdate): void {
    const { need } = this;
    const isNew = needOf(startState) !== need;
    if (isNew) this.begin();
    if (need === "nothing") return;
    if (isNew) this.cutSoon(0, 0);
    else if (docChanged) this.cutSoon(cutAfterMs, mostScoreAfterMs);
  }

  destroy(): void {
    this.forget();
    this.cutting.stop();
    this.scoring.stop();
  }

  /** Starts again when the view's needs have changed. */
  private begin(): void {
    this.cutting.stop();
    this.scoring.stop();
    if (this.need !== "nothing" && !this.setting.queue.isModelIdle) this.sayWaiting();
  }

  private readonly sayWaiting = (): void =>
    this.setting.tell(() => phrase(this.setting.hasModel() ? "awaitsWriting" : "awaitsModel"));

  /** Tokenizes the text after `ms`, and scores it about `mostWaitMs` after that at the latest. */
  private cutSoon(ms: number, mostWaitMs: number): void {
    this.scoring.stop();
    this.cutting.schedule(ms, (model, signal) => this.cutText(model, mostWaitMs, signal), this.sayWaiting);
  }

  /** Tokenizing takes almost no time, so the tokens appear at once even if scoring is slow. */
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
    this.scoring.schedule(ms, (_, scoringSignal) => this.score(scoringSignal), this.sayWaiting);
  }

  private sayCount(): void {
    this.setting.tell(() => phrase("scored", { count: this.scores.total }));
  }

  private sayShare(): void {
    const share = this.scores.known.length / this.scores.total;
    this.setting.tell(
      () => phrase("scoring"),
      () => ` ${formatShare(share)}`,
    );
  }

  /** Shows the scores as they arrive. */
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
      view.dispatch({ effects: prefillAgain.of(null) });
    }
  }
}

export function seeing(setting: SeeingSetting): Extension {
  return [viewMode, details(setting), ViewPlugin.define((view) => new Seeing(view, setting))];
}
