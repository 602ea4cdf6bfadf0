// The views of the text by its tokens: scored in the background, told of where one points or the caret is.
import type { Extension, Range } from "@codemirror/state";
import { EditorView, ViewPlugin, type PluginValue, type ViewUpdate } from "@codemirror/view";
import type { Model } from "../../src/client/index.js";
import { Asking } from "../asking.js";
import { predict } from "./predict.js";
import { readTokens, scoreText } from "./score-text.js";
import { countTokens, scoredField, setScored, tokenAt, tokensBefore, type Scored } from "./scored.js";
import { showToken, type RankedToken } from "./token-panel.js";
import { modeField, viewMode, type Mode } from "./view-mode.js";
import { phrase } from "../language/editor.js";
import { formatShare } from "../language/numbers.js";

export interface SeeingSetting {
  panel: HTMLElement;
  /** The model, where there is one already and it is not at work: nobody asked for it to be loaded. */
  idleModel: () => Promise<Model | undefined> | undefined;
  /** Calls `listener` when there is another model, or none, until what it gives is called. */
  onModelChange: (listener: () => void) => () => void;
  /** Says how the scoring goes. */
  tell: (sentence: string) => void;
  fail: (error: unknown) => void;
  /** Goes on with another token in the place of one. */
  branch: (from: number, token: RankedToken) => void;
}

/** After the last edit, and after the pointer came to a token. */
const scoreAfterMs = 400;
const predictAfterMs = 80;

class Seeing implements PluginValue {
  readonly view: EditorView;
  private readonly setting: SeeingSetting;
  private readonly scoring: Asking;
  private readonly predicting: Asking;
  private readonly forget: () => void;
  private shown: Scored | undefined;

  constructor(view: EditorView, setting: SeeingSetting) {
    this.view = view;
    this.setting = setting;
    this.scoring = new Asking(setting);
    this.predicting = new Asking(setting);
    this.forget = setting.onModelChange(() => {
      this.empty();
      this.view.dispatch({ effects: setScored.of([]) });
      if (this.mode !== "text") this.scoreSoon(0);
    });
  }

  private get mode(): Mode {
    return this.view.state.field(modeField);
  }

  /** Whether what is known of a token is shown: inside the model, there is a panel for it. */
  private get hasPanel(): boolean {
    return this.mode !== "text" && this.mode !== "inside";
  }

  update({ startState, state, docChanged, selectionSet }: ViewUpdate): void {
    const isNew = startState.field(modeField) !== this.mode;
    if (isNew) {
      this.stop();
      this.setting.panel.hidden = !this.hasPanel;
    }
    if (this.mode === "text") return;
    if (isNew || docChanged) this.scoreSoon(isNew ? 0 : scoreAfterMs);
    // What was expected there held for the text as it was.
    if (docChanged) return this.empty();
    const isScored = startState.field(scoredField) !== state.field(scoredField);
    if (isNew || selectionSet || isScored) this.showSoon(state.selection.main.head);
  }

  destroy(): void {
    this.forget();
    this.stop();
  }

  private stop(): void {
    this.scoring.stop();
    this.empty();
  }

  /** Of the token that is shown, and what is asked of it. */
  private empty(): void {
    this.predicting.stop();
    this.shown = undefined;
    this.setting.panel.replaceChildren();
  }

  private scoreSoon(ms: number): void {
    this.scoring.soon(
      ms,
      (model, signal) => this.score(model, signal),
      () => this.setting.tell(phrase("awaitsModel")),
    );
  }

  private async score(model: Model, signal: AbortSignal): Promise<void> {
    const { tell } = this.setting;
    if (!model.info.hasTokenizer) return tell(phrase("noTokenizer"));
    const text = this.view.state.doc.toString();
    const ranges =
      this.mode === "inside"
        ? await readTokens(model, text, signal)
        : await scoreText(model, text, signal, (share) => {
            if (share < 1) tell(phrase("scoring", { share: formatShare(share) }));
          });
    signal.throwIfAborted();
    this.view.dispatch({ effects: setScored.of(ranges) });
    tell(phrase("scored", { count: countTokens(this.view.state.field(scoredField), text.length) }));
  }

  /** Shows the token at `offset`, and asks what else could stand there. */
  showSoon(offset: number): void {
    if (!this.hasPanel) return;
    const token = tokenAt(this.view.state.field(scoredField), offset);
    if (!token || token.value === this.shown) return;
    this.shown = token.value;
    this.show(token, token.value.index > 0 ? "asked" : undefined);
    this.predicting.soon(predictAfterMs, (model, signal) => this.predict(model, token, signal));
  }

  private show(token: Range<Scored>, prediction: Parameters<typeof showToken>[3]): void {
    const text = this.view.state.sliceDoc(token.from, token.to);
    showToken(this.setting.panel, text, token, prediction, (chosen) => this.branch(token.value, chosen));
  }

  /** Where the token is by now; nothing where an edit took it. */
  private branch(scored: Scored, chosen: RankedToken): void {
    let place: number | undefined;
    this.view.state.field(scoredField).between(0, this.view.state.doc.length, (from, _to, value) => {
      if (value !== scored) return;
      place = from;
      return false;
    });
    if (place !== undefined) this.setting.branch(place, chosen);
  }

  private async predict(model: Model, token: Range<Scored>, signal: AbortSignal): Promise<void> {
    const before = tokensBefore(this.view.state.field(scoredField), token.from);
    if (!before) return this.show(token, undefined); // it is scored anew soon
    const ids = before.flatMap(({ value }) => value.ids);
    const prediction = await predict(model, ids, signal);
    signal.throwIfAborted();
    this.show(token, prediction);
  }
}

export function seeing(setting: SeeingSetting): Extension {
  const plugin = ViewPlugin.define((view) => new Seeing(view, setting), {
    eventHandlers: {
      mousemove(event) {
        const offset = this.view.posAtCoords(event);
        if (offset !== null) this.showSoon(offset);
      },
    },
  });
  return [viewMode, plugin];
}
