// Holds the options of a stored text until the Options panel is loaded.
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

  peek(): GenerateOptions | undefined {
    return this.panel ? this.panel.peek() : this.stored;
  }

  /** What the visitor set, without refused values. */
  get own(): GenerateOptions | undefined {
    return this.panel ? this.panel.own : this.stored;
  }

  /** undefined if a value is refused, which the panel then shows, or if there is no panel yet. */
  read(): GenerateOptions | undefined {
    return this.panel?.read();
  }
}
