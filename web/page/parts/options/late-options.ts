// The options before their panel is there: what a stored text brings is kept for it.
import type { GenerateOptions } from "../../../src/client/index.js";
import type { OptionsPanel } from "./options-panel.js";

export class LateOptions {
  private panel: OptionsPanel | undefined;
  private stored: GenerateOptions | undefined;

  come(panel: OptionsPanel): void {
    this.panel = panel;
    if (this.stored) panel.show(this.stored);
  }

  show(options: GenerateOptions): void {
    this.stored = options;
    this.panel?.show(options);
  }

  peek(which: "value" | "own" = "value"): GenerateOptions | undefined {
    return this.panel ? this.panel.peek(which) : this.stored;
  }

  /** undefined where a value is refused, which the panel then shows, or where there is no panel yet. */
  read(): GenerateOptions | undefined {
    return this.panel?.read();
  }
}
