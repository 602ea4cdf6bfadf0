// Prefills a prompt while the weights arrive: through the layers that are complete, between messages and arriving bytes.
import type { PromptProgress } from "../shared/types.js";
import type { Engine } from "./engine.js";
import { yieldToMessages } from "./yield-to-messages.js";

export class EarlyPrefill {
  private isRunning = false;
  private running: Promise<void> = Promise.resolve();

  private readonly engine: Pick<Engine, "loadPrompt" | "step">;
  private readonly hasPrompt: boolean;
  private readonly signal: AbortSignal;
  private readonly onLayer: (layer: PromptProgress) => void;

  /** The prompt of a load that has begun. An empty prompt is ignored. */
  constructor(
    engine: Pick<Engine, "loadPrompt" | "step">,
    prompt: string | readonly number[],
    signal: AbortSignal,
    /** Called after the prompt has run through another layer. */
    onLayer: (layer: PromptProgress) => void,
  ) {
    this.engine = engine;
    this.signal = signal;
    this.onLayer = onLayer;

    this.hasPrompt = prompt.length > 0;
    if (this.hasPrompt) engine.loadPrompt(prompt);
  }

  /** More of the weights has arrived. */
  wake(): void {
    if (!this.hasPrompt || this.isRunning) return;
    this.isRunning = true;
    this.running = this.run();
    this.running.catch(() => {}); // `end` reports errors
  }

  /** Resolves after the prompt has run through all layers that have arrived. */
  end(): Promise<void> {
    return this.running;
  }

  private async run(): Promise<void> {
    let told: number | undefined;
    try {
      for (;;) {
        await yieldToMessages(); // arriving bytes and aborts are handled first
        this.signal.throwIfAborted();
        const { done, total, isDone } = this.engine.step("_gpt2_load_step");
        if (done !== told) this.onLayer({ done, total });
        told = done;
        if (isDone) return;
      }
    } finally {
      this.isRunning = false;
    }
  }
}
