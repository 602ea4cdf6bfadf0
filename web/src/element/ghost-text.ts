// Draws a suggestion after the text of the page's own field. In a text control, an invisible overlay lays out the
// control's text again, and the suggestion follows it. In an editor, it appears at the caret.
import { make } from "./html-element.js";
import { ControlField, type SuggestionField, type TextControl } from "./suggestion-field.js";

/** The styles that determine where a field's letters are. */
// Stryker disable all: only a browser lays text out; tests/e2e/element.spec.ts compares where it stands
const metrics = `
  direction font-family font-feature-settings font-kerning font-optical-sizing font-size
  font-size-adjust font-stretch font-style font-variant font-variation-settings font-weight hyphens
  letter-spacing line-break line-height overflow-wrap padding-bottom padding-left padding-right
  padding-top tab-size text-align text-indent text-rendering text-transform unicode-bidi word-break
  word-spacing writing-mode font-synthesis hyphenate-character hyphenate-limit-chars text-align-last
  text-autospace text-orientation text-size-adjust text-spacing-trim text-wrap-style
`
  .trim()
  .split(/\s+/);

/** Letters of scripts that are written from right to left. */
const rightToLeft = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/;

// Chrome and Edge before 111 lack color-mix(): with var(), it would make the declaration invalid.
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
  transform-origin: 0 0;
}
.overlay > div {
  box-sizing: border-box;
  min-width: 100%;
  white-space: pre-wrap;
  overflow-wrap: break-word;
  color: transparent;
}
.ghost {
  color: var(--gpt2-ghost, #767676);
  visibility: visible;
}
@supports (color: color-mix(in srgb, red, red)) {
  .ghost {
    color: var(--gpt2-ghost, color-mix(in srgb, var(--ink) 65%, transparent));
  }
}
@media (pointer: coarse) {
  .ghost {
    pointer-events: auto;
  }
}
`;

// Stryker restore all

const isLine = (control: TextControl) => control.localName === "input";

/** Whether the inner half of `a` is within `b`: the box of a letter is often higher than its line. */
function isWithin(a: DOMRectReadOnly, b: DOMRectReadOnly): boolean {
  const [x, y] = [a.width / 4, a.height / 4];
  return a.left + x >= b.left && a.right - x <= b.right && a.top + y >= b.top && a.bottom - y <= b.bottom;
}

/** Whether two letters are in one line, and one begins where the other ends, in either direction: not so in mixed text. */
function doFollow(a: DOMRectReadOnly, b: DOMRectReadOnly, isVertical: boolean, isMixed: boolean): boolean {
  const [line, begin, end] = isVertical
    ? (["left", "top", "bottom"] as const)
    : (["top", "left", "right"] as const);
  const isNear = (one: number, other: number) => Math.abs(one - other) <= 1;
  return (
    isNear(a[line], b[line]) &&
    (isMixed || [a[begin], a[end]].some((at) => isNear(at, b[begin]) || isNear(at, b[end])))
  );
}

/** Whether the place of the text depends on its end or length, so that added text would move it. */
function isHeldByItsEnd(style: CSSStyleDeclaration): boolean {
  const { textAlign, direction } = style;
  const isBalanced = ["balance", "pretty"].includes(style.getPropertyValue("text-wrap-style"));
  return isBalanced || ["center", "end", direction === "rtl" ? "left" : "right"].includes(textAlign);
}

/**
 * The level of `element` among the elements around `other`: that of the outermost element with a `z-index` which does not
 * contain both.
 */
function levelOf(element: Element, other: Element): number {
  let level = 0;
  for (let each: Element | null = element; each && !each.contains(other); each = each.parentElement) {
    const own = getComputedStyle(each).zIndex;
    if (own !== "auto") level = Number(own);
  }
  return level;
}

/** The place of a letter. */
function rectOf(text: Text, at: number): DOMRect {
  const range = document.createRange();
  range.setStart(text, Math.max(0, at));
  range.setEnd(text, Math.min(at + 1, text.length));
  return range.getBoundingClientRect();
}

/** Viewport pixels per pixel in which the browser measures: WebKit, which lacks `currentCSSZoom`, leaves out CSS `zoom`. */
function unmeasuredZoom(element: Element): number {
  if ("currentCSSZoom" in Element.prototype) return 1;
  const own = Number(getComputedStyle(element).zoom) || 1;
  const around = element.parentElement ?? (element.getRootNode() as Partial<ShadowRoot>).host;
  return around ? own * unmeasuredZoom(around) : own;
}

/** Viewport pixels per pixel of `element`: not 1 if it is zoomed or transformed. */
function scaleOf(element: HTMLElement): number {
  const { width } = element.getBoundingClientRect();
  const { offsetWidth } = element; // a rounded value
  return offsetWidth === 0 || Math.abs(width - offsetWidth) < 1 ? 1 : width / offsetWidth;
}

/** The area of a control without borders and scroll bar, in its own pixels; `scale` converts them to the viewport's. */
function insideOf(control: TextControl, style: CSSStyleDeclaration) {
  const border = (side: string) => parseFloat(style.getPropertyValue(`border-${side}-width`)) || 0;
  const { left, top, width, height } = control.getBoundingClientRect();
  const { offsetWidth, offsetHeight, clientWidth, clientHeight, clientLeft } = control;
  // The browser rounds these four values. Their difference beyond the borders is a scroll bar, or less than a pixel. An
  // <input> has no scroll bar; in Firefox its padding counts as one.
  const bar = (pixels: number) => (pixels > 1.5 && !isLine(control) ? Math.round(pixels) : 0);
  const [sides, ends] = [border("left") + border("right"), border("top") + border("bottom")];
  const scale = scaleOf(control);
  return {
    left: left + scale * (border("left") + bar(clientLeft - border("left"))),
    top: top + scale * border("top"),
    width: width / scale - sides - bar(offsetWidth - clientWidth - sides),
    height: height / scale - ends - bar(offsetHeight - clientHeight - ends),
    scale,
  };
}

export class GhostText {
  private readonly before = document.createTextNode("");
  private readonly letters = document.createTextNode("");
  private readonly ghost = make("span", { part: "ghost", class: "ghost" });
  private readonly lines = make("div", {}, this.before, this.ghost);
  private readonly overlay = make("div", { class: "overlay", "aria-hidden": "true" }, this.lines);
  private field: SuggestionField | undefined;
  private readonly root: ShadowRoot;
  /** The positions of field and overlay at the last layout, and the field's colour. */
  private place = "";
  /** Whether the ghost begins at the caret: a word that does not fit the caret's line begins the next one. */
  private isAtCaret = true;

  /** Calls `onTap` when the ghost is tapped on a touch screen. */
  constructor(root: ShadowRoot, onTap: () => void) {
    this.root = root;
    this.ghost.append(this.letters);
    root.append(this.overlay);
    this.ghost.addEventListener("pointerdown", (event) => event.preventDefault()); // the field keeps the focus
    this.ghost.addEventListener("mousedown", (event) => event.preventDefault());
    this.ghost.addEventListener("click", onTap);
  }

  /** Draws `text` at the caret of `field`. */
  show(field: SuggestionField, text: string): void {
    this.field = field;
    this.before.data = field instanceof ControlField ? field.element.value : "";
    this.letters.data = text;
    this.layOut();
  }

  hide(): void {
    this.field = undefined;
    this.letters.data = "";
    this.before.data = "";
  }

  /** Whether the first letter is painted at the caret: a full or scrolled field has no room for it, or something covers it. */
  get isVisible(): boolean {
    const { letters, overlay, ghost } = this;
    const letter = rectOf(letters, Math.max(0, letters.data.search(/\S/)));
    if (!this.isAtCaret || !isWithin(letter, overlay.getBoundingClientRect())) return false;
    ghost.style.pointerEvents = "auto"; // otherwise it is not found
    const half = unmeasuredZoom(ghost) / 2;
    const top = this.root.elementFromPoint(
      half * (letter.left + letter.right),
      half * (letter.top + letter.bottom),
    );
    ghost.style.pointerEvents = "";
    return top === ghost;
  }

  /** Draws the ghost again if the field was moved, scrolled, resized or recoloured. Call it in each frame. */
  follow(): void {
    if (this.field && this.place !== this.currentPlace(this.field)) this.layOut();
  }

  private currentPlace(field: SuggestionField): string {
    const { element } = field;
    const { scrollLeft, scrollTop, clientWidth, clientHeight } = element;
    const at = field instanceof ControlField ? element.getBoundingClientRect() : field.caret();
    const { left, top } = this.overlay.getBoundingClientRect();
    const all = [
      at.left,
      at.top,
      at.width,
      at.height,
      scrollLeft,
      scrollTop,
      clientWidth,
      clientHeight,
      left,
      top,
      getComputedStyle(element).color, // the page may become dark
    ];
    return all.join();
  }

  private layOut(): void {
    const { field, overlay, lines, ghost } = this;
    if (!field) return;
    const style = getComputedStyle(field.element);
    for (const name of metrics) lines.style.setProperty(name, style.getPropertyValue(name));
    overlay.style.setProperty("--ink", style.color);
    lines.lang = field.element.closest<HTMLElement>("[lang]")?.lang ?? ""; // lines end elsewhere in other languages
    overlay.style.zIndex = String(Math.max(0, levelOf(field.element, this.root.host)) + 1);
    overlay.style.direction = style.direction; // an overlong line starts where the field's line does
    // Text that runs against the paragraph's direction must not be reordered together with the text before it.
    const isMixed = style.direction === "rtl" || rightToLeft.test(this.before.data + this.letters.data);
    ghost.style.unicodeBidi = isMixed ? "isolate" : "normal";
    this.isAtCaret =
      field instanceof ControlField
        ? this.layOutLike(field.element, style, isMixed)
        : this.layOutAt(field.caret(), field.element);
    ghost.style.visibility = this.isAtCaret ? "" : "hidden";
    this.place = this.currentPlace(field);
  }

  /** Returns whether the ghost begins at the caret. */
  private layOutLike(control: TextControl, style: CSSStyleDeclaration, isMixed: boolean): boolean {
    const { lines, ghost } = this;
    const inside = insideOf(control, style);
    const hasOneLine = isLine(control);
    if (hasOneLine) {
      // An input's single line is vertically centred, and scrolls if it is too long.
      const padding = parseFloat(style.paddingTop) + parseFloat(style.paddingBottom);
      lines.style.lineHeight = `${inside.height - padding}px`;
    }
    lines.style.whiteSpace = hasOneLine ? "pre" : style.whiteSpace || "pre-wrap";
    lines.style.width = hasOneLine ? "max-content" : `${inside.width}px`;
    lines.style.transform = `translate(${-control.scrollLeft}px, ${-control.scrollTop}px)`;
    const isHeld = isHeldByItsEnd(style);
    ghost.style.display = isHeld ? "inline-block" : "inline";
    ghost.style.width = isHeld ? "0" : "auto"; // it must not widen the line or move its text
    ghost.style.whiteSpace = isHeld ? "pre" : "inherit";
    this.moveTo(inside);
    const { before, letters } = this;
    // After the end of a line, the ghost is alone in the next one.
    if (before.data.endsWith("\n") && /^(pre|break)/.test(lines.style.whiteSpace)) return true;
    const { data } = letters;
    letters.data = "";
    const last = rectOf(before, before.length - 1);
    letters.data = data;
    return doFollow(last, rectOf(letters, 0), style.writingMode.startsWith("vertical"), isMixed);
  }

  private layOutAt(caret: DOMRectReadOnly, editor: HTMLElement): true {
    const { lines, ghost } = this;
    const { left, right } = editor.getBoundingClientRect();
    const scale = scaleOf(editor);
    const isLeftwards = getComputedStyle(editor).direction === "rtl";
    const room = Math.max(0, isLeftwards ? caret.left - left : right - caret.right);
    lines.style.padding = "0";
    lines.style.lineHeight = `${caret.height / scale}px`;
    lines.style.whiteSpace = "pre";
    lines.style.width = "max-content";
    lines.style.transform = "none";
    ghost.style.display = "inline";
    this.moveTo({
      left: isLeftwards ? caret.left - room : caret.right,
      top: caret.top,
      width: room / scale,
      height: caret.height / scale,
      scale,
    });
    return true;
  }

  /** Independent of the overlay's own origin and scale: everything around both elements cancels out. */
  private moveTo({ left, top, width, height, scale }: ReturnType<typeof insideOf>): void {
    const { overlay } = this;
    const at = (name: "left" | "top") => parseFloat(overlay.style[name]) || 0;
    overlay.style.transform = "none";
    overlay.style.width = `${width}px`;
    overlay.style.height = `${height}px`;
    const from = overlay.getBoundingClientRect();
    const own = scaleOf(overlay);
    overlay.style.left = `${at("left") + (left - from.left) / own}px`;
    overlay.style.top = `${at("top") + (top - from.top) / own}px`;
    if (Math.abs(scale / own - 1) > 0.01) overlay.style.transform = `scale(${scale / own})`;
  }
}
