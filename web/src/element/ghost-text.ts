// A suggestion that is drawn after the text of somebody else's field. In a text control, an invisible overlay lays out
// the control's own text once more, and the suggestion follows it. In an editor, it stands at the caret.
import { make } from "./html-element.js";
import { ControlField, type SuggestionField, type TextControl } from "./suggestion-field.js";

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

/** Letters of scripts that are written from right to left. */
const rightToLeft = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/;

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
  private field: SuggestionField | undefined;
  private readonly resized = new ResizeObserver(() => this.place());
  private readonly place = () => this.layOut();

  /** Where there are fingers in place of keys, `onTap` is called when the ghost is touched. */
  constructor(root: ShadowRoot, onTap: () => void) {
    root.append(this.overlay);
    this.ghost.addEventListener("pointerdown", (event) => event.preventDefault()); // the field keeps the focus
    this.ghost.addEventListener("mousedown", (event) => event.preventDefault());
    this.ghost.addEventListener("click", onTap);
  }

  /** Draws `text` where the caret of `field` is. */
  show(field: SuggestionField, text: string): void {
    if (this.field !== field) {
      this.hide();
      this.field = field;
      this.resized.observe(field.element);
      addEventListener("scroll", this.place, { capture: true, passive: true }); // of whatever it lies in, or its own
      addEventListener("resize", this.place);
    }
    this.before.data = field instanceof ControlField ? field.element.value : "";
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
    const style = getComputedStyle(field.element);
    for (const name of metrics) lines.style.setProperty(name, style.getPropertyValue(name));
    overlay.style.setProperty("--ink", style.color);
    // Text that runs against the paragraph's direction must not be reordered together with what stands before it.
    const isMixed = style.direction === "rtl" || rightToLeft.test(this.before.data + this.ghost.textContent);
    this.ghost.style.unicodeBidi = isMixed ? "isolate" : "normal";
    if (field instanceof ControlField) this.layOutLike(field.element, style);
    else this.layOutAt(field.caret(), field.element);
  }

  private layOutLike(control: TextControl, style: CSSStyleDeclaration): void {
    const { overlay, lines } = this;
    const isLine = control instanceof HTMLInputElement;
    if (isLine) {
      // The one line of an input stands in the middle, and scrolls where it is too long.
      const padding = parseFloat(style.paddingTop) + parseFloat(style.paddingBottom);
      lines.style.lineHeight = `${control.clientHeight - padding}px`;
    }
    lines.style.whiteSpace = isLine ? "pre" : "pre-wrap";
    lines.style.width = isLine ? "max-content" : `${control.clientWidth}px`;
    overlay.style.width = `${control.clientWidth}px`; // without borders and scroll bar
    overlay.style.height = `${control.clientHeight}px`;
    lines.style.transform = `translate(${-control.scrollLeft}px, ${-control.scrollTop}px)`;
    const { left, top } = control.getBoundingClientRect();
    this.moveTo(left + control.clientLeft, top + control.clientTop);
  }

  private layOutAt(caret: DOMRectReadOnly, editor: HTMLElement): void {
    const { overlay, lines } = this;
    const end = editor.getBoundingClientRect().right;
    lines.style.padding = "0";
    lines.style.lineHeight = `${caret.height}px`;
    lines.style.whiteSpace = "pre";
    lines.style.width = "max-content";
    lines.style.transform = "none";
    overlay.style.width = `${Math.max(0, end - caret.right)}px`;
    overlay.style.height = `${caret.height}px`;
    this.moveTo(caret.right, caret.top);
  }

  /** Wherever the overlay's own zero is: what is scrolled and transformed around both of them cancels out. */
  private moveTo(left: number, top: number): void {
    const { overlay } = this;
    const from = overlay.getBoundingClientRect();
    const at = (name: "left" | "top") => parseFloat(overlay.style[name]) || 0;
    overlay.style.left = `${at("left") + left - from.left}px`;
    overlay.style.top = `${at("top") + top - from.top}px`;
  }
}
