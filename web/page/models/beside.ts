// A model that comes while another one writes: it takes the other's place where nobody wrote meanwhile, and else when the
// page's reader says so.
import { InvalidArgumentError, type Model } from "../../src/client/index.js";
import { hide } from "../buttons.js";
import { elements as ui } from "../elements.js";
import { phrase } from "../language/models.js";
import { phrase as phraseOfStart } from "../language/start.js";
import { isAbort, messageOf, say, showError } from "../messages.js";

/** What the page does for it. */
export interface Side<Loaded> {
  /** Loads it, and shows how far that is, as `stage`. */
  fetch: (stage: string) => Promise<Loaded>;
  /** Whether nobody minds when it takes the other's place. */
  mayReplace: () => boolean;
  /** Lets it take the other's place. */
  replace: (loaded: Loaded) => Promise<void>;
  /** It will not come. */
  ended: () => void;
  tryAgain: () => void;
}

export class Beside<Loaded extends { model: Model }> {
  /** Resolves when it is there, or will not be. */
  readonly coming: Promise<void>;
  private readonly names: { name: string; other: string };
  private readonly side: Side<Loaded>;
  private loaded: Loaded | undefined;
  private isForgotten = false;

  constructor(names: { name: string; other: string }, side: Side<Loaded>) {
    this.names = names;
    this.side = side;
    this.coming = this.come();
  }

  /** Where it is there. */
  async use(): Promise<void> {
    const { loaded } = this;
    if (!loaded) return;
    this.loaded = undefined;
    hide(ui.arrival, ui.generate);
    await this.side.replace(loaded);
  }

  /** Another one was chosen. */
  forget(): void {
    this.isForgotten = true;
    void this.loaded?.model.dispose();
    this.loaded = undefined;
    hide(ui.arrival, ui.generate);
  }

  private async come(): Promise<void> {
    const { side, names } = this;
    try {
      const loaded = await side.fetch(phrase("beside", names));
      if (this.isForgotten) return void loaded.model.dispose();
      this.loaded = loaded;
      hide(ui.loading, ui.generate);
      if (side.mayReplace()) return await this.use();
      ui.arrivalText.textContent = phrase("arrived", names);
      ui.arrivalUse.onclick = () => void this.use();
      ui.arrival.hidden = false;
    } catch (error) {
      if (this.isForgotten) return;
      side.ended();
      hide(ui.loading, ui.generate);
      if (isAbort(error)) return say(phrase("besideCancelled", names));
      // Trying again cannot help where what was picked is to blame.
      const tryAgain = { label: phraseOfStart("tryAgain"), run: side.tryAgain };
      const repair = error instanceof InvalidArgumentError ? undefined : tryAgain;
      showError(phraseOfStart("notLoaded", { why: messageOf(error) }), repair);
    }
  }
}
