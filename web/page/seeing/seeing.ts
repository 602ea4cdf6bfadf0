// The views of the text by its tokens: scored in the background, told of where one points or the caret is.
import type { Extension, Range } from "@codemirror/state";
import { EditorView, ViewPlugin, type PluginValue, type ViewUpdate } from "@codemirror/view";
import type { Model, TokenLogprob } from "../../src/client/index.js";
import { isAbort } from "../messages.js";
import { predict } from "./predict.js";
import { scoreText } from "./score-text.js";
import { scoredField, setScored, tokenAt, type Scored } from "./scored.js";
import { showToken } from "./token-panel.js";
import { modeField, viewMode } from "./view-mode.js";

export interface SeeingSetting {
  panel: HTMLElement;
  /** The model, where there is one already and it is not at work: nobody asked for it to be loaded. */
  idleModel: () => Promise<Model | undefined> | undefined;
  onModelChange: (listener: () => void) => void;
  isWriting: () => boolean;
  /** Says how the scoring goes. */
  tell: (sentence: string) => void;
  fail: (error: unknown) => void;
  /** Goes on with another token in the place of one. */
  branch: (from: number, token: TokenLogprob) => void;
}

/** After the last edit, and after the pointer came to a token. */
const scoreAfterMs = 400;
const predictAfterMs = 80;

class Seeing implements PluginValue {
  readonly view: EditorView;
  private readonly setting: SeeingSetting;
  private scoring: AbortController | undefined;
  private predicting: AbortController | undefined;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private predictTimer: ReturnType<typeof setTimeout> | undefined;
  private shown: Scored | undefined;

  constructor(view: EditorView, setting: SeeingSetting) {
    this.view = view;
    this.setting = setting;
    setting.onModelChange(() => {
      this.empty();
      this.view.dispatch({ effects: setScored.of([]) });
      if (this.isOn) this.scoreSoon(0);
    });
  }

  private get isOn(): boolean {
    return this.view.state.field(modeField) !== "text";
  }

  update({ startState, state, docChanged, selectionSet }: ViewUpdate): void {
    const isNew = startState.field(modeField) !== state.field(modeField);
    if (isNew) this.setting.panel.hidden = !this.isOn;
    if (!this.isOn) return isNew ? this.stop() : undefined;
    if (isNew || docChanged) this.scoreSoon(isNew ? 0 : scoreAfterMs);
    // What was expected there held for the text as it was.
    if (docChanged) return this.empty();
    const isScored = startState.field(scoredField) !== state.field(scoredField);
    if (isNew || selectionSet || isScored) this.showSoon(state.selection.main.head);
  }

  destroy(): void {
    this.stop();
  }

  private stop(): void {
    clearTimeout(this.timer);
    this.scoring?.abort();
    this.empty();
  }

  /** Of the token that is shown, and what is asked of it. */
  private empty(): void {
    clearTimeout(this.predictTimer);
    this.predicting?.abort();
    this.shown = undefined;
    this.setting.panel.replaceChildren();
  }

  private scoreSoon(ms: number): void {
    clearTimeout(this.timer);
    this.scoring?.abort();
    this.timer = setTimeout(() => void this.score(), ms);
  }

  private async score(): Promise<void> {
    const { idleModel, isWriting, tell, fail } = this.setting;
    if (isWriting()) return this.scoreSoon(scoreAfterMs);
    const { signal } = (this.scoring = new AbortController());
    try {
      const model = await idleModel();
      signal.throwIfAborted();
      if (!model) return tell("Scored once there is a model.");
      const text = this.view.state.doc.toString();
      const ranges = await scoreText(model, text, signal, (share) => {
        if (share < 1) tell(`Reading the text: ${Math.round(share * 100)} %`);
      });
      signal.throwIfAborted();
      this.view.dispatch({ effects: setScored.of(ranges) });
      tell(`${this.view.state.field(scoredField).size} tokens`);
    } catch (error) {
      if (!isAbort(error)) fail(error);
    }
  }

  /** Shows the token at `offset`, and asks what else could stand there. */
  showSoon(offset: number): void {
    if (!this.isOn) return;
    const token = tokenAt(this.view.state.field(scoredField), offset);
    if (!token || token.value === this.shown) return;
    this.shown = token.value;
    clearTimeout(this.predictTimer);
    this.predicting?.abort();
    this.show(token, token.value.index > 0 ? "asked" : undefined);
    this.predictTimer = setTimeout(() => void this.predict(token), predictAfterMs);
  }

  private show(token: Range<Scored>, prediction: Parameters<typeof showToken>[3]): void {
    const text = this.view.state.sliceDoc(token.from, token.to);
    showToken(this.setting.panel, text, token, prediction, (chosen) => this.branch(token.value, chosen));
  }

  /** Where the token is by now; nothing where an edit took it. */
  private branch(scored: Scored, chosen: TokenLogprob): void {
    let place: number | undefined;
    this.view.state.field(scoredField).between(0, this.view.state.doc.length, (from, _to, value) => {
      if (value !== scored) return;
      place = from;
      return false;
    });
    if (place !== undefined) this.setting.branch(place, chosen);
  }

  private async predict(token: Range<Scored>): Promise<void> {
    const { idleModel, isWriting, fail } = this.setting;
    if (isWriting()) return;
    const { signal } = (this.predicting = new AbortController());
    const ids: number[] = [];
    let known = 0; // so far, all of the text is in `ids`
    this.view.state.field(scoredField).between(0, token.from, (from, to, value) => {
      if (from >= token.from || from !== known) return false;
      ids.push(...value.ids);
      known = to;
    });
    if (known !== token.from) return this.show(token, undefined); // it is scored anew soon
    try {
      const model = await idleModel();
      signal.throwIfAborted();
      if (!model) return;
      const prediction = await predict(model, ids, signal);
      signal.throwIfAborted();
      this.show(token, prediction);
    } catch (error) {
      if (!isAbort(error)) fail(error);
    }
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
