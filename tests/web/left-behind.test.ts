// Finished requests leave nothing behind, and events without a listener are harmless.
import { describe, expect, it } from "vitest";
import { Model } from "../../web/src/client/model.js";
import type { ModelInfo } from "../../web/src/shared/types.js";
import { connect } from "./support/fake-worker.js";

/** A signal that counts its listeners. */
class CountingSignal extends EventTarget {
  aborted = false;
  reason: unknown;
  listeners = 0;
  override addEventListener(...args: Parameters<EventTarget["addEventListener"]>): void {
    this.listeners += 1;
    super.addEventListener(...args);
  }
  override removeEventListener(...args: Parameters<EventTarget["removeEventListener"]>): void {
    if (args[0] === "abort") this.listeners -= 1;
    super.removeEventListener(...args);
  }
}

describe("A signal that outlives its requests", () => {
  it.each([
    { type: "done", id: 1, result: "text" } as const,
    { type: "failed", id: 1, error: { code: "corrupt", message: "why" } } as const,
  ])("finished requests leave no listener on a long-lived signal: $type", async (answer) => {
    const { worker, connection } = connect();
    const signal = new CountingSignal();
    const request = connection.request("detokenize", [1], { signal: signal as unknown as AbortSignal });
    expect(signal.listeners).toBe(1);
    worker.say(answer);
    await request.catch(() => {});
    expect(signal.listeners).toBe(0);
  });
});

describe("Progress that nobody asked for", () => {
  it("a progress event without a listener is no error in generate, complete and score", async () => {
    const { worker, connection } = connect();
    const model = new Model(connection, { threads: 1, notice: null } as ModelInfo);
    void model.generate("p").next();
    void model.complete("p");
    void model.score("s");
    const prompt = { done: 1, total: 2 };
    for (const id of [1, 2]) {
      expect(() => worker.say({ type: "event", id, event: { prompt } })).not.toThrow();
    }
    expect(() => worker.say({ type: "event", id: 3, event: prompt })).not.toThrow();
  });
});
