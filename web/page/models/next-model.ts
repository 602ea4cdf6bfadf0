// A model that loads while another one writes. It replaces the other at once if the text has not changed, and otherwise
// when the visitor agrees.
import { InvalidArgumentError, type Model } from "../../src/client/index.js";
import { phrase } from "../language/models.js";
import { phrase as phraseOfStart } from "../language/start.js";
import { isAbort } from "../state/errors.js";
import type { ChosenModel, ComingModel, PageState } from "../state/page-state.js";
import { forgetDownload, rememberDownload } from "./remembered-download.js";

/** What the page does for it. */
export interface NextModelSetting<Loaded> {
  /** Loads the model, and shows the progress with `stage`. */
  fetch: (stage: () => string) => Promise<Loaded>;
  /** Whether it may replace the other model at once. */
  mayReplace: () => boolean;
  /** Replaces the other model. */
  replace: (loaded: Loaded) => Promise<void>;
  /** Called when the model will not be used. */
  ended: () => void;
  tryAgain: () => void;
}

export class NextModel<Loaded extends { model: Model }> {
  /** Resolves when it is loaded, or will not be. */
  readonly coming: Promise<void>;
  private readonly state: PageState;
  private readonly next: ChosenModel;
  private readonly names: { name: string; other: string };
  private readonly setting: NextModelSetting<Loaded>;
  private loaded: Loaded | undefined;
  private isForgotten = false;
  /** The offer to use it, if the visitor has to agree. */
  private waiting: ComingModel | undefined;
  /** Leaving the page ends the load, but the download must stay remembered. */
  private isLeft = false;

  constructor(state: PageState, next: ChosenModel, setting: NextModelSetting<Loaded>) {
    this.state = state;
    this.next = next;
    this.names = { name: next.name, other: state.chosen.peek().name };
    this.setting = setting;
    addEventListener("pagehide", () => (this.isLeft = true));
    addEventListener("pageshow", () => (this.isLeft = false));
    rememberDownload(next);
    this.coming = this.load();
  }

  private drop(): void {
    if (!this.isLeft) forgetDownload(this.next);
  }

  /** Uses it if it is loaded. */
  async use(): Promise<void> {
    const { loaded } = this;
    if (!loaded) return;
    this.loaded = undefined;
    this.drop();
    this.endWaiting();
    try {
      await this.setting.replace(loaded);
    } catch (error) {
      this.state.showError((why) => phrase("notExchanged", { ...this.names, why }), error);
    }
  }

  /** Another model was chosen. */
  forget(): void {
    this.isForgotten = true;
    this.drop();
    void this.loaded?.model.dispose();
    this.loaded = undefined;
    this.endWaiting();
  }

  /** Another model may be loading already. */
  private endWaiting(): void {
    const { coming } = this.state;
    if (coming.peek() === this.waiting) this.state.endLoading();
  }

  private async load(): Promise<void> {
    const { setting, names, state } = this;
    try {
      const loaded = await setting.fetch(() => phrase("beside", names));
      if (this.isForgotten) return void loaded.model.dispose();
      this.loaded = loaded;
    } catch (error) {
      if (this.isForgotten) return;
      this.drop();
      setting.ended();
      state.endLoading();
      if (isAbort(error)) return state.say(() => phrase("besideCancelled", names));
      // A retry cannot help if the picked files are wrong.
      const tryAgain = { label: () => phraseOfStart("tryAgain"), run: setting.tryAgain };
      const repair = error instanceof InvalidArgumentError ? undefined : tryAgain;
      return state.showError((why) => phraseOfStart("notLoaded", { why }), error, repair);
    }
    state.endLoading();
    if (setting.mayReplace()) return this.use();
    this.waiting = {
      kind: "waiting",
      sentence: () => phrase("arrived", names),
      use: () => void this.use(),
    };
    state.coming.value = this.waiting;
  }
}
