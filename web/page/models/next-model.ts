// A model that loads while another one writes. It replaces the other at once if the text has not changed, and otherwise
// when the page's reader says so.
import { InvalidArgumentError, type Model } from "../../src/client/index.js";
import { phrase } from "../language/models.js";
import { phrase as phraseOfStart } from "../language/start.js";
import { isAbort, messageOf } from "../state/errors.js";
import type { ChosenModel, PageState } from "../state/page-state.js";
import { forgetDownload, rememberDownload } from "./remembered-download.js";

/** What the page does for it. */
export interface NextModelSetting<Loaded> {
  /** Loads it, and shows how far that is, as `stage`. */
  fetch: (stage: () => string) => Promise<Loaded>;
  /** Whether it may replace the other model at once. */
  mayReplace: () => boolean;
  /** Lets it take the other's place. */
  replace: (loaded: Loaded) => Promise<void>;
  /** It will not come. */
  ended: () => void;
  tryAgain: () => void;
}

export class NextModel<Loaded extends { model: Model }> {
  /** Resolves when it is there, or will not be. */
  readonly coming: Promise<void>;
  private readonly state: PageState;
  private readonly next: ChosenModel;
  private readonly names: { name: string; other: string };
  private readonly setting: NextModelSetting<Loaded>;
  private loaded: Loaded | undefined;
  private isForgotten = false;
  /** A page that is left ends what comes: that is no reason to forget it. */
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

  /** Where it is there. */
  async use(): Promise<void> {
    const { loaded } = this;
    if (!loaded) return;
    this.loaded = undefined;
    this.drop();
    this.state.arrival.value = undefined;
    try {
      await this.setting.replace(loaded);
    } catch (error) {
      this.state.showError(() => phrase("notExchanged", { ...this.names, why: messageOf(error) }));
    }
  }

  /** Another one was chosen. */
  forget(): void {
    this.isForgotten = true;
    this.drop();
    void this.loaded?.model.dispose();
    this.loaded = undefined;
    this.state.arrival.value = undefined;
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
      state.loading.value = undefined;
      if (isAbort(error)) return state.say(() => phrase("besideCancelled", names));
      // Trying again cannot help where what was picked is to blame.
      const tryAgain = { label: () => phraseOfStart("tryAgain"), run: setting.tryAgain };
      const repair = error instanceof InvalidArgumentError ? undefined : tryAgain;
      return state.showError(() => phraseOfStart("notLoaded", { why: messageOf(error) }), repair);
    }
    state.loading.value = undefined;
    if (setting.mayReplace()) return this.use();
    state.arrival.value = { sentence: () => phrase("arrived", names), use: () => void this.use() };
  }
}
