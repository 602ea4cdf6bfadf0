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
  needModel: () => Promise<Model | undefined>;
  isWriting: () => boolean;
  say: (sentence: string) => void;
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
  }

  private get isOn(): boolean {
    return this.view.state.field(modeField) !== "text";
  }

  update({ startState, state, docChanged, selectionSet }: ViewUpdate): void {
    const isNew = startState.field(modeField) !== state.field(modeField);
    if (isNew) this.setting.panel.hidden = !this.isOn;
    if (!this.isOn) return isNew ? this.stop() : undefined;
    if (isNew || docChanged) this.scoreSoon(isNew ? 0 : scoreAfterMs);
    const isScored = startState.field(scoredField) !== state.field(scoredField);
    if (isNew || selectionSet || isScored) this.showSoon(state.selection.main.head);
  }

  destroy(): void {
    this.stop();
  }

  private stop(): void {
    clearTimeout(this.timer);
    clearTimeout(this.predictTimer);
    this.scoring?.abort();
    this.predicting?.abort();
    this.shown = undefined;
  }

  private scoreSoon(ms: number): void {
    clearTimeout(this.timer);
    this.scoring?.abort();
    this.timer = setTimeout(() => void this.score(), ms);
  }

  private async score(): Promise<void> {
    const { needModel, isWriting, say, fail } = this.setting;
    if (isWriting()) return this.scoreSoon(scoreAfterMs);
    const { signal } = (this.scoring = new AbortController());
    try {
      const model = await needModel();
      signal.throwIfAborted();
      if (!model) return;
      const text = this.view.state.doc.toString();
      const ranges = await scoreText(model, text, signal, (share) => {
        if (share < 1) say(`Reading the text: ${Math.round(share * 100)} %`);
      });
      signal.throwIfAborted();
      this.view.dispatch({ effects: setScored.of(ranges) });
      say(`${this.view.state.field(scoredField).size} tokens`);
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
    showToken(this.setting.panel, text, token, prediction, (chosen) =>
      this.setting.branch(token.from, chosen),
    );
  }

  private async predict(token: Range<Scored>): Promise<void> {
    const { needModel, isWriting, fail } = this.setting;
    if (isWriting()) return;
    const { signal } = (this.predicting = new AbortController());
    const ids: number[] = [];
    this.view.state.field(scoredField).between(0, token.from, (from, _to, value) => {
      if (from < token.from) ids.push(...value.ids);
    });
    try {
      const model = await needModel();
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
