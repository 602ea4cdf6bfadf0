// Helpers for elements. Without a document (server-side rendering), importing them has no effect.

/** HTMLElement; on a server, an empty class that is never instantiated. */
export const Base =
  (globalThis as Partial<typeof globalThis>).HTMLElement ?? (class {} as typeof HTMLElement);

/** Creates an element with these attributes and children. */
export function make<K extends keyof HTMLElementTagNameMap>(
  name: K,
  attributes: Readonly<Record<string, string>> = {},
  ...children: (Node | string)[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children);
  return element;
}

/** Style sheets of each document by their text: a document accepts only its own sheets. */
const sheets = new WeakMap<Document, Map<string, CSSStyleSheet>>();

/** Adds these styles to `root`. Constructed sheets need no permission of a content security policy. */
export function style(root: ShadowRoot, css: string): void {
  const { ownerDocument } = root;
  const own = sheets.get(ownerDocument) ?? new Map<string, CSSStyleSheet>();
  sheets.set(ownerDocument, own);
  const sheet = own.get(css) ?? new (ownerDocument.defaultView ?? globalThis).CSSStyleSheet();
  if (!own.has(css)) sheet.replaceSync(css);
  own.set(css, sheet);
  root.adoptedStyleSheets = [sheet];
}

/** Whether this is a real browser. jsdom and happy-dom lack features that the elements need. */
function canRun(): boolean {
  const { ElementInternals, CSSStyleSheet, ResizeObserver, IntersectionObserver } = globalThis as Partial<
    typeof globalThis
  >;
  const hasForms = typeof ElementInternals?.prototype.setFormValue === "function";
  const hasSheets = typeof CSSStyleSheet?.prototype.replaceSync === "function";
  return hasForms && hasSheets && Boolean(ResizeObserver && IntersectionObserver);
}

/**
 * Defines an element unless it is already defined: hot module replacement runs this again. Outside browsers the element
 * does nothing.
 */
export function define(name: string, element: CustomElementConstructor): void {
  const { customElements } = globalThis as Partial<typeof globalThis>;
  if (!customElements?.get(name)) customElements?.define(name, canRun() ? element : class extends Base {});
}

/** Sets properties of `element` again that were set before it was defined, and so hide its accessors. */
export function adoptProperties(element: HTMLElement, names: readonly string[]): void {
  for (const name of names) {
    if (!Object.hasOwn(element, name)) continue;
    const value: unknown = Reflect.get(element, name);
    Reflect.deleteProperty(element, name);
    Reflect.set(element, name, value);
  }
}

/** Visible to screen readers only. */
// Stryker disable next-line StringLiteral: only a browser draws
export const visuallyHidden = `
.unseen {
  position: absolute;
  width: 1px;
  height: 1px;
  margin: -1px;
  overflow: hidden;
  clip-path: inset(50%);
  white-space: nowrap;
}
`;
