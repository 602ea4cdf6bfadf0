// Updates the picture of the settings for the caret's place while the options are open.
import type { Extension } from "@codemirror/state";
import { ViewPlugin, type EditorView, type PluginValue, type ViewUpdate } from "@codemirror/view";
import type { GenerateOptions, GenerationDefaults, Model } from "../../../src/client/index.js";
import type { PageRequest, RequestQueue } from "../../assistant/request-queue.js";
import type { Elements } from "../../dom/elements.js";
import { keepTranslated } from "../../language/keep-translated.js";
import { predictAfter, type Prediction } from "../../assistant/predict.js";
import type { ContextFields } from "../../state/context-fields.js";
import { draw } from "./picture.js";

/** Milliseconds that the caret must rest. */
const askAfterMs = 300;

export interface LivePictureSetting {
  ui: Pick<Elements, "controls" | "options" | "picture" | "pictureBars" | "pictureWords">;
  queue: RequestQueue;
  /** Calls `listener` when another model is loaded or the model is gone. Returns a function that ends that. */
  onModelChange: (listener: () => void) => () => void;
  /** The fields that the model reads besides the text. */
  fields: () => ContextFields | undefined;
  /** The current settings; undefined if a value is refused. */
  peek: () => GenerateOptions | undefined;
}

class LivePicture implements PluginValue {
  private readonly setting: LivePictureSetting;
  private readonly gone = new AbortController();
  private prediction: Prediction | undefined;
  private model: Model | undefined;
  /** The settings of the last drawing. If a value is refused, the picture stays. */
  private drawn: GenerateOptions | undefined;
  private readonly request: PageRequest;

  constructor(view: EditorView, setting: LivePictureSetting) {
    this.setting = setting;
    // This is only a picture; writing a text reports the error.
    this.request = setting.queue.requests("picture", () => {});
    const { signal } = this.gone;
    keepTranslated(this, () => this.show());
    setting.ui.controls.addEventListener("input", () => this.show(), { signal });
    setting.ui.options.addEventListener("toggle", () => this.askSoon(view, 0), { signal });
    const forget = setting.onModelChange(() => {
      this.prediction = undefined;
      this.show();
      this.askSoon(view, 0);
    });
    signal.addEventListener("abort", forget);
  }

  update({ docChanged, selectionSet, view }: ViewUpdate): void {
    if (docChanged || selectionSet) this.askSoon(view, askAfterMs);
  }

  destroy(): void {
    this.gone.abort();
    this.request.stop();
  }

  private askSoon({ state }: EditorView, ms: number): void {
    if (!this.setting.ui.options.open) return this.request.stop();
    this.request.schedule(ms, async (model, signal) => {
      if (!model.info.hasTokenizer) return;
      const text = state.sliceDoc(0, state.selection.main.to);
      const prediction = await predictAfter(model, text, this.setting.fields(), signal);
      signal.throwIfAborted();
      this.prediction = prediction;
      this.model = model;
      this.show();
    });
  }

  private show(): void {
    const { prediction, model } = this;
    const { ui } = this.setting;
    const set = (this.drawn = this.setting.peek() ?? this.drawn);
    ui.picture.hidden = !prediction || !model;
    if (!prediction || !model || !set) return;
    const { defaults } = model.info;
    const inEffect = Object.entries(defaults).map(([name, value]) => [
      name,
      set[name as keyof GenerationDefaults] ?? value,
    ]);
    draw(ui.pictureBars, ui.pictureWords, prediction, Object.fromEntries(inEffect) as GenerationDefaults);
  }
}

export const livePicture = (setting: LivePictureSetting): Extension =>
  ViewPlugin.define((view) => new LivePicture(view, setting));
