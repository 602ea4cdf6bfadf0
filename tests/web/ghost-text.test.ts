// @vitest-environment happy-dom
// The place and the font of the ghost's text, and the parts of the elements.
import { beforeEach, describe, expect, it, vi } from "vitest";
import { givePage } from "./support/element-page.js";

givePage();
const { GhostText, ghostStyle } = await import("../../web/src/element/ghost-text.js");
const { ControlField } = await import("../../web/src/element/suggestion-field.js");
const { define, style, visuallyHidden } = await import("../../web/src/element/html-element.js");

const placeOf = (control: Element) =>
  ControlField.of(control) as NonNullable<ReturnType<typeof ControlField.of>>;

/** A field of 200 by 40 pixels within its borders at (30, 50), and an overlay whose zero is at (5, 7). */
function draw(kind: "textarea" | "input" = "textarea") {
  const root = document.createElement("div").attachShadow({ mode: "open" });
  const onTap = vi.fn();
  const ghost = new GhostText(root, onTap);
  const overlay = root.querySelector(".overlay") as HTMLElement;
  let moved = 0;
  const move = (pixels: number) => void (moved += pixels);
  const makeField = () => {
    const field = document.createElement(kind);
    field.setAttribute("style", "font-family: Menlo; letter-spacing: 2px; color: red; padding: 3px 0 5px");
    field.style.borderWidth = "2px 1px";
    Object.defineProperties(field, {
      offsetWidth: { value: 202 },
      offsetHeight: { value: 44 },
      clientWidth: { value: 200 },
      clientHeight: { value: 40 },
      clientLeft: { value: 1 },
    });
    field.getBoundingClientRect = () => new DOMRect(30 + moved, 50, 202, 44);
    document.body.append(field);
    return field;
  };
  overlay.getBoundingClientRect = () =>
    new DOMRect(5 + (parseFloat(overlay.style.left) || 0), 7 + (parseFloat(overlay.style.top) || 0), 200, 40);
  const field = makeField();
  field.value = "I went";
  const lines = overlay.firstElementChild as HTMLElement;
  return { ghost, root, overlay, lines, field, place: placeOf(field), makeField, move, onTap };
}

beforeEach(() => {
  document.body.replaceChildren();
});

describe("ghost text in a field of the page", () => {
  it("ghost text appears at the end of the field's own text, in its font", () => {
    const { ghost, overlay, lines, field, place } = draw();
    field.scrollLeft = 4;
    field.scrollTop = 9;
    ghost.show(place, " home");
    expect(lines.textContent).toBe("I went home");
    expect(overlay.querySelector(".ghost")?.textContent).toBe(" home");
    expect(overlay.getAttribute("aria-hidden")).toBe("true");
    expect(lines.style.fontFamily).toBe("Menlo");
    expect(lines.style.letterSpacing).toBe("2px");
    expect(overlay.style.getPropertyValue("--ink")).toBe("red");
    expect([lines.style.whiteSpace, lines.style.width]).toEqual(["pre-wrap", "200px"]);
    expect([overlay.style.width, overlay.style.height]).toEqual(["200px", "40px"]);
    expect(lines.style.transform).toBe("translate(-4px, -9px)");
    expect([overlay.style.left, overlay.style.top]).toEqual(["26px", "45px"]);
    ghost.show(place, " to bed");
    expect([overlay.style.left, overlay.style.top]).toEqual(["26px", "45px"]);
  });

  it("ghost text in an input is one line at its vertical middle", () => {
    const { ghost, lines, place } = draw("input");
    ghost.show(place, " home");
    expect([lines.style.whiteSpace, lines.style.width]).toEqual(["pre", "max-content"]);
    expect(lines.style.lineHeight).toBe("32px");
  });

  it("ghost text follows its field when that moves or scrolls, and is laid out only then", () => {
    const { ghost, overlay, lines, field, place, move } = draw();
    ghost.show(place, " home");
    field.scrollTop += 10;
    ghost.follow();
    expect(lines.style.transform).toBe("translate(0px, -10px)");
    move(4);
    ghost.follow();
    expect(overlay.style.left).toBe("30px");
    const styled = vi.spyOn(globalThis, "getComputedStyle");
    ghost.follow();
    expect(styled).not.toHaveBeenCalled();
    styled.mockRestore();
    ghost.hide();
    expect(lines.textContent).toBe("");
    field.scrollTop += 10;
    ghost.follow();
    expect(lines.style.transform).toBe("translate(0px, -10px)");
  });

  it("ghost text counts as visible if its first letter is within the field", () => {
    const { ghost, place } = draw();
    ghost.show(place, "  home");
    const letter = vi.spyOn(Range.prototype, "getBoundingClientRect");
    for (const [left, top, isVisible] of [
      [100, 60, true],
      [231, 60, false],
      [22, 60, false],
      [100, 93, false],
      [100, 40, false],
    ] as const) {
      letter.mockReturnValue(new DOMRect(left, top, 8, 10));
      expect([left, top, ghost.isVisible]).toEqual([left, top, isVisible]);
    }
    letter.mockRestore();
  });

  it.each([
    ["center", "ltr", "0px"],
    ["right", "ltr", "0px"],
    ["left", "ltr", "auto"],
    ["right", "rtl", "auto"],
    ["left", "rtl", "0px"],
  ])(
    "ghost text in text aligned %s that runs %s is %s wide, so that it moves nothing",
    (align, direction, width) => {
      const { ghost, overlay, field, place } = draw();
      Object.assign(field.style, { textAlign: align, direction });
      ghost.show(place, " home");
      expect(overlay.querySelector<HTMLElement>(".ghost")?.style.width).toBe(width);
    },
  );

  it("ghost text appears at the caret of an editor, up to the editor's end", () => {
    const { ghost, overlay, lines, field } = draw();
    const caret = { right: 60, top: 70, height: 18 } as DOMRect;
    const editor = document.createElement("div");
    editor.getBoundingClientRect = () => new DOMRect(0, 0, 200, 100);
    const rest = { textBefore: () => "", insert: () => "", caret: () => caret };
    ghost.show({ element: editor, ...rest }, " home");
    expect([overlay.style.left, overlay.style.top]).toEqual(["55px", "63px"]);
    expect([overlay.style.width, overlay.style.height]).toEqual(["140px", "18px"]);
    expect([lines.textContent, lines.style.lineHeight]).toEqual([" home", "18px"]);
    expect(field.isConnected).toBe(true);
  });

  it.each([
    ["I went", "ltr", "normal"],
    ["I went", "rtl", "isolate"],
    ["הלכתי home", "ltr", "isolate"],
  ])(
    "ghost text after %j in a field that runs %s is not reordered with it: %s",
    (text, direction, expected) => {
      const { ghost, overlay, field, place } = draw();
      field.value = text;
      field.style.direction = direction;
      ghost.show(place, " now");
      expect(overlay.querySelector<HTMLElement>(".ghost")?.style.unicodeBidi).toBe(expected);
    },
  );

  it("ghost text moves from one field to another", () => {
    const { ghost, lines, place, makeField } = draw();
    ghost.show(place, " home");
    const other = makeField();
    other.value = "Once";
    ghost.show(placeOf(other), " upon");
    expect(lines.textContent).toBe("Once upon");
  });

  it("a tap takes ghost text and leaves the focus in the field", () => {
    const { root, onTap } = draw();
    const letters = root.querySelector("[part=ghost]");
    for (const type of ["pointerdown", "mousedown"]) {
      const event = new Event(type, { cancelable: true });
      letters?.dispatchEvent(event);
      expect(event.defaultPrevented, type).toBe(true);
    }
    expect(onTap).not.toHaveBeenCalled();
    letters?.dispatchEvent(new Event("click"));
    expect(onTap).toHaveBeenCalledTimes(1);
  });
});

describe("helpers for elements", () => {
  it("elements with the same styles share one sheet", () => {
    const [one, two, three] = [1, 2, 3].map(() =>
      document.createElement("div").attachShadow({ mode: "open" }),
    ) as [ShadowRoot, ShadowRoot, ShadowRoot];
    style(one, visuallyHidden);
    style(two, visuallyHidden);
    style(three, ghostStyle);
    expect(one.adoptedStyleSheets[0]).toBe(two.adoptedStyleSheets[0]);
    expect(three.adoptedStyleSheets[0]).not.toBe(two.adoptedStyleSheets[0]);
    expect(three.adoptedStyleSheets).toHaveLength(1);
    expect(one.adoptedStyleSheets[0]?.cssRules.length).toBeGreaterThan(0);
  });

  it("elements are defined only once", () => {
    class First extends HTMLElement {}
    define("x-once", First);
    define("x-once", class extends HTMLElement {});
    expect(customElements.get("x-once")).toBe(First);
  });
});
