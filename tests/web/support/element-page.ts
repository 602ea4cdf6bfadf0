// The browser features that happy-dom lacks and the elements need.
import { vi } from "vitest";

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
  Object.assign(globalThis, {
    ElementInternals: FakeInternals,
    IntersectionObserver: FakeObserver,
    ResizeObserver: FakeObserver,
  });
  // happy-dom has no layout: every element is at the same place, and so visible.
  Element.prototype.getBoundingClientRect = () => new DOMRect(0, 0, 1, 1);
  Range.prototype.getBoundingClientRect = () => new DOMRect(0, 0, 1, 1);
  ShadowRoot.prototype.elementFromPoint = function (this: ShadowRoot) {
    return this.querySelector(".ghost");
  };
}
