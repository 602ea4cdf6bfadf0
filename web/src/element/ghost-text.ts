// Text that is drawn into somebody else's field, after what stands in it: an overlay lays the field's own text out once
// more, unseen, and goes on with the ghost's.
import { make } from "./html-element.js";

export type Field = HTMLTextAreaElement | HTMLInputElement;

/** What decides where a field's letters stand. */
// Stryker disable all: only a browser lays text out; tests/e2e/element.spec.ts compares where it stands
const metrics = [
  ...[
    "direction",
    "font-family",
    "font-feature-settings",
    "font-kerning",
    "font-optical-sizing",
    "font-size",
  ],
  ...[
    "font-size-adjust",
    "font-stretch",
    "font-style",
    "font-variant",
    "font-variation-settings",
    "font-weight",
  ],
  ...[
    "hyphens",
    "letter-spacing",
    "line-break",
    "line-height",
    "overflow-wrap",
    "padding-bottom",
    "padding-left",
  ],
  ...[
    "padding-right",
    "padding-top",
    "tab-size",
    "text-align",
    "text-indent",
    "text-rendering",
    "text-transform",
  ],
  ...["unicode-bidi", "word-break", "word-spacing", "writing-mode"],
];

export const ghostStyle = `
:host {
  position: absolute;
  width: 0;
  height: 0;
}
.overlay {
  position: absolute;
  z-index: 1;
  overflow: hidden;
  pointer-events: none;
  visibility: hidden;
}
.overlay > div {
  box-sizing: border-box;
  min-width: 100%;
  white-space: pre-wrap;
  overflow-wrap: break-word;
  color: transparent;
}
.ghost {
  color: var(--gpt2-ghost, color-mix(in srgb, var(--ink) 65%, transparent));
  visibility: visible;
}
@media (pointer: coarse) {
  .ghost {
    pointer-events: auto;
  }
}
`;

// Stryker restore all

export class GhostText {
  private readonly before = document.createTextNode("");
  private readonly ghost = make("span", { part: "ghost", class: "ghost" });
  private readonly lines = make("div", {}, this.before, this.ghost);
  private readonly overlay = make("div", { class: "overlay", "aria-hidden": "true" }, this.lines);
  private field: Field | undefined;
  private readonly resized = new ResizeObserver(() => this.place());
  private readonly place = () => this.layOut();

  /** Where there are fingers in place of keys, `onTap` is called when the ghost is touched. */
  constructor(root: ShadowRoot, onTap: () => void) {
    root.append(this.overlay);
    this.ghost.addEventListener("pointerdown", (event) => event.preventDefault()); // the field keeps the focus
    this.ghost.addEventListener("mousedown", (event) => event.preventDefault());
    this.ghost.addEventListener("click", onTap);
  }

  /** Draws `text` where the caret of `field` is, at its end. */
  show(field: Field, text: string): void {
    if (this.field !== field) {
      this.hide();
      this.field = field;
      this.resized.observe(field);
      addEventListener("scroll", this.place, { capture: true, passive: true }); // of whatever it lies in, or its own
      addEventListener("resize", this.place);
    }
    this.before.data = field.value;
    this.ghost.textContent = text;
    this.layOut();
  }

  hide(): void {
    if (!this.field) return;
    this.field = undefined;
    this.ghost.textContent = "";
    this.before.data = "";
    this.resized.disconnect();
    removeEventListener("scroll", this.place, { capture: true });
    removeEventListener("resize", this.place);
  }

  private layOut(): void {
    const { field, overlay, lines } = this;
    if (!field) return;
    const style = getComputedStyle(field);
    for (const name of metrics) lines.style.setProperty(name, style.getPropertyValue(name));
    overlay.style.setProperty("--ink", style.color);
    const isLine = field instanceof HTMLInputElement;
    if (isLine) {
      // The one line of an input stands in the middle, and scrolls where it is too long.
      const padding = parseFloat(style.paddingTop) + parseFloat(style.paddingBottom);
      lines.style.lineHeight = `${field.clientHeight - padding}px`;
    }
    lines.style.whiteSpace = isLine ? "pre" : "pre-wrap";
    lines.style.width = isLine ? "max-content" : `${field.clientWidth}px`;
    overlay.style.width = `${field.clientWidth}px`; // without borders and scroll bar
    overlay.style.height = `${field.clientHeight}px`;
    lines.style.transform = `translate(${-field.scrollLeft}px, ${-field.scrollTop}px)`;
    // Wherever the overlay's own zero is: what is scrolled and transformed around both of them cancels out.
    const { left, top } = field.getBoundingClientRect();
    const from = overlay.getBoundingClientRect();
    const at = (name: "left" | "top") => parseFloat(overlay.style[name]) || 0;
    overlay.style.left = `${at("left") + left + field.clientLeft - from.left}px`;
    overlay.style.top = `${at("top") + top + field.clientTop - from.top}px`;
  }
}
