// A model that comes while another one writes: it takes the other's place where nobody wrote meanwhile, and else when the
// page's reader says so.
import { InvalidArgumentError, type Model } from "../../src/client/index.js";
import type { ChosenModel } from "./chosen-model.js";
import { hide } from "../dom/buttons.js";
import { elements as ui } from "../dom/elements.js";
import { phrase } from "../language/models.js";
import { phrase as phraseOfStart } from "../language/start.js";
import { put } from "../language/told.js";
import { say, showError } from "../state/messages.js";
import { isAbort, messageOf } from "../state/errors.js";
import { dropComing, keepComing } from "./coming.js";

/** What the page does for it. */
export interface NextModelSetting<Loaded> {
  /** Loads it, and shows how far that is, as `stage`. */
  fetch: (stage: () => string) => Promise<Loaded>;
  /** Whether nobody minds when it takes the other's place. */
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
  private readonly next: ChosenModel;
  private readonly names: { name: string; other: string };
  private readonly setting: NextModelSetting<Loaded>;
  private loaded: Loaded | undefined;
  private isForgotten = false;

  constructor({ next, other }: { next: ChosenModel; other: string }, setting: NextModelSetting<Loaded>) {
    this.next = next;
    this.names = { name: next.name, other };
    this.setting = setting;
    keepComing(next);
    this.coming = this.load();
  }

  /** Where it is there. */
  async use(): Promise<void> {
    const { loaded } = this;
    if (!loaded) return;
    this.loaded = undefined;
    dropComing(this.next);
    hide(ui.arrival, ui.generate);
    try {
      await this.setting.replace(loaded);
    } catch (error) {
      showError(() => phrase("notExchanged", { ...this.names, why: messageOf(error) }));
    }
  }

  /** Another one was chosen. */
  forget(): void {
    this.isForgotten = true;
    dropComing(this.next);
    void this.loaded?.model.dispose();
    this.loaded = undefined;
    hide(ui.arrival, ui.generate);
  }

  private async load(): Promise<void> {
    const { setting, names } = this;
    try {
      const loaded = await setting.fetch(() => phrase("beside", names));
      if (this.isForgotten) return void loaded.model.dispose();
      this.loaded = loaded;
    } catch (error) {
      if (this.isForgotten) return;
      dropComing(this.next);
      setting.ended();
      hide(ui.loading, ui.generate);
      if (isAbort(error)) return say(() => phrase("besideCancelled", names));
      // Trying again cannot help where what was picked is to blame.
      const tryAgain = { label: () => phraseOfStart("tryAgain"), run: setting.tryAgain };
      const repair = error instanceof InvalidArgumentError ? undefined : tryAgain;
      return showError(() => phraseOfStart("notLoaded", { why: messageOf(error) }), repair);
    }
    hide(ui.loading, ui.generate);
    if (setting.mayReplace()) return this.use();
    put(ui.arrivalText, () => phrase("arrived", names));
    ui.arrivalUse.onclick = () => void this.use();
    ui.arrival.hidden = false;
  }
}
