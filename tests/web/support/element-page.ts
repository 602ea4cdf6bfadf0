// The browser features that happy-dom lacks and the elements need, and a scripted model.
import { vi, type Mock } from "vitest";
import type { GenerateCall, LoadOptions, Token } from "../../../web/src/client/index.js";

/** The internals of a form control: records what the element set. */
export class FakeInternals {
  form: HTMLFormElement | null = null;
  labels: Node[] = [];
  validity = { valid: true };
  willValidate = true;
  validationMessage = "no";
  formValue: unknown;
  readonly setValidity = vi.fn();
  readonly checkValidity = vi.fn(() => false);
  readonly reportValidity = vi.fn(() => false);
  setFormValue(value: unknown): void {
    this.formValue = value;
  }
}

const internals = new WeakMap<HTMLElement, FakeInternals>();

export function internalsOf(element: HTMLElement): FakeInternals {
  const found = internals.get(element);
  if (!found) throw new Error("the element asked for no internals");
  return found;
}

/** Records the observed elements; `run` is the observer's callback. */
export class FakeObserver {
  static all: FakeObserver[] = [];
  readonly observed = new Set<Element>();
  readonly run: (entries: { isIntersecting: boolean }[]) => void;
  constructor(run: FakeObserver["run"]) {
    this.run = run;
    FakeObserver.all.push(this);
  }
  observe(element: Element): void {
    this.observed.add(element);
  }
  disconnect(): void {
    this.observed.clear();
  }
}

export function givePage(): void {
  HTMLElement.prototype.attachInternals = function (this: HTMLElement) {
    const made = new FakeInternals();
    internals.set(this, made);
    return made as unknown as ElementInternals;
  };
  vi.stubGlobal("ElementInternals", FakeInternals);
  vi.stubGlobal("IntersectionObserver", FakeObserver);
  vi.stubGlobal("ResizeObserver", FakeObserver);
  // happy-dom has no layout: every element is at the same place, and so visible.
  Element.prototype.getBoundingClientRect = () => new DOMRect(0, 0, 1, 1);
  Range.prototype.getBoundingClientRect = () => new DOMRect(0, 0, 1, 1);
}

/** A model that writes `texts`, each once `next` is called; a text that is an error is thrown. */
export class ScriptedModel {
  readonly dispose = vi.fn(async () => {});
  readonly calls: { prompt: string; call: GenerateCall }[] = [];
  texts: (string | Error)[] = [];
  /** Its texts belong to this many continuations, by turns. */
  continuations = 1;
  /** Whether it waits for ever after its texts. */
  waits = false;

  async *generate(prompt: string, call: GenerateCall): AsyncGenerator<Token> {
    this.calls.push({ prompt, call });
    let index = 0;
    for (const text of this.texts) {
      if (text instanceof Error) throw text;
      call.signal?.throwIfAborted();
      yield { index: index++ % this.continuations, text, id: index } as unknown as Token;
    }
    if (this.waits)
      await new Promise((_, reject) =>
        call.signal?.addEventListener("abort", () => reject(call.signal?.reason as Error)),
      );
    await (call.onSummary?.({ finishReason: "length" } as never) as unknown);
  }
}

/** The arguments of `loadModel`. */
export type LoadCall = [url: string, options: LoadOptions];

/** The events of an element, in their order. */
export function eventsOf(element: HTMLElement, ...types: string[]): CustomEvent[] {
  const seen: CustomEvent[] = [];
  for (const type of types) element.addEventListener(type, (event) => seen.push(event as CustomEvent));
  return seen;
}

/** Lets `load` stand for loads that end only when they are aborted. */
export const loadUntilAborted = (load: Mock) =>
  load.mockImplementation(
    (_url: string, { signal }: LoadOptions) =>
      new Promise((_, reject) => signal?.addEventListener("abort", () => reject(signal.reason as Error))),
  );

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
