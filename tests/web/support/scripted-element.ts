// The elements with a scripted model, in place of what the package loads.
import { beforeEach, vi } from "vitest";
import type { GenerateCall, LoadOptions, LoadProgress, Token } from "../../../web/src/client/index.js";
import { FakeObserver, givePage } from "./element-page.js";

/** In place of `loadModel`: gives `model`. */
export const load = vi.fn<(url: string, options: LoadOptions) => Promise<unknown>>();
vi.mock("../../../web/src/client/index.js", async () => ({
  ...(await import("../../../web/src/shared/errors.js")),
  loadModel: load,
  WorkerError: RangeError,
}));
givePage();

/** The model of the current test. */
export let model: ScriptedModel;
beforeEach(() => {
  document.body.replaceChildren();
  FakeObserver.all = [];
  model = new ScriptedModel();
  load.mockReset().mockImplementation(async () => model);
});

/** A model that writes `texts`, each once `next` is called; a text that is an error is thrown. */
export class ScriptedModel {
  readonly dispose = vi.fn(async () => {});
  readonly info: { defaults: { maxLength?: number } } = { defaults: {} };
  readonly calls: { prompt: string; call: GenerateCall }[] = [];
  texts: (string | Error)[] = [];
  /** The texts of the calls after the first, and why each call ends: at the limit without an entry. */
  later: (string | Error)[][] = [];
  reasons: string[] = [];
  /** Its texts belong to this many continuations, by turns. */
  continuations = 1;
  /** Whether it waits for ever after its texts. */
  waits = false;

  async *generate(prompt: string, call: GenerateCall): AsyncGenerator<Token> {
    this.calls.push({ prompt, call });
    let index = 0;
    const texts = this.texts;
    this.texts = this.later.shift() ?? texts;
    for (const text of texts) {
      if (text instanceof Error) throw text;
      call.signal?.throwIfAborted();
      yield { index: index++ % this.continuations, text, id: index } as unknown as Token;
    }
    if (this.waits)
      await new Promise((_, reject) =>
        call.signal?.addEventListener("abort", () => reject(call.signal?.reason as Error)),
      );
    await (call.onSummary?.({ finishReason: this.reasons.shift() ?? "length" } as never) as unknown);
  }
}

/** The events of an element, in their order. */
export function eventsOf(element: HTMLElement, ...types: string[]): CustomEvent[] {
  const seen: CustomEvent[] = [];
  for (const type of types) element.addEventListener(type, (event) => seen.push(event as CustomEvent));
  return seen;
}

/** Lets loads end only when they are aborted. */
export const loadUntilAborted = () =>
  load.mockImplementation(
    (_url, { signal }) =>
      new Promise((_, reject) => signal?.addEventListener("abort", () => reject(signal.reason as Error))),
  );
/** The options of the last load. */
export const options = (): LoadOptions => load.mock.lastCall?.[1] ?? {};
export const progress = (of: Partial<LoadProgress>) =>
  options().onProgress?.({ stage: "download", loadedBytes: 0, totalBytes: 0, ...of } as LoadProgress);

/** An element in the page with these attributes, what its events report, and a function that finds what is in it. */
export function mount<K extends keyof HTMLElementTagNameMap>(name: K, attributes: Record<string, string>) {
  const element = document.createElement(name);
  const reportsOf = (type: string) => {
    const details: unknown[] = [];
    element.addEventListener(type, ({ detail }: CustomEventInit) => details.push(detail));
    return details;
  };
  const done = reportsOf("gpt2-done");
  const errors = reportsOf("gpt2-error");
  const accepted = reportsOf("gpt2-accept");
  for (const [attribute, value] of Object.entries(attributes)) element.setAttribute(attribute, value);
  document.body.append(element);
  const find = (selector: string) => element.shadowRoot?.querySelector(selector) as unknown;
  return { element, done, errors, accepted, find };
}
