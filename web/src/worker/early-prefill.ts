// The prefill of a prompt while the weights come: as far as they reach, between the messages and the bytes that arrive.
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
    /** Called whenever the prompt has run through one more. */
    onLayer: (layer: PromptProgress) => void,
  ) {
    this.engine = engine;
    this.signal = signal;
    this.onLayer = onLayer;

    this.hasPrompt = prompt.length > 0;
    if (this.hasPrompt) engine.loadPrompt(prompt);
  }

  /** More of the weights is there. */
  wake(): void {
    if (!this.hasPrompt || this.isRunning) return;
    this.isRunning = true;
    this.running = this.run();
    this.running.catch(() => {}); // `end` tells
  }

  /** Resolves once it has run through all layers that have arrived. */
  end(): Promise<void> {
    return this.running;
  }

  private async run(): Promise<void> {
    let told: number | undefined;
    try {
      for (;;) {
        await yieldToMessages(); // the bytes that have arrived, and an abort, come first
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
