// @vitest-environment happy-dom
// Ghost text as far as it needs no layout, and helpers of the elements; tests/browsers/elements.spec.ts tests its place.
import { beforeEach, describe, expect, it, vi } from "vitest";
import { givePage } from "./support/element-page.js";

givePage();
const { GhostText, ghostStyle } = await import("../../web/src/element/ghost-text.js");
const { ControlField } = await import("../../web/src/element/suggestion-field.js");
const { define, style, visuallyHidden } = await import("../../web/src/element/html-element.js");

beforeEach(() => document.body.replaceChildren());

describe("ghost text", () => {
  /** A field with a text, and a ghost that can be shown at its end. */
  function draw(text = "I went") {
    const root = document.createElement("section").attachShadow({ mode: "open" });
    const ghost = new GhostText(root, () => {});
    const find = (selector: string) => root.querySelector(selector) as HTMLElement;
    const field = document.createElement("textarea");
    document.body.append(field);
    field.value = text;
    const show = (more: string) =>
      ghost.show(ControlField.of(field) as NonNullable<ReturnType<typeof ControlField.of>>, more);
    return { ghost, field, show, overlay: find(".overlay"), lines: find("div div"), letters: find(".ghost") };
  }

  it("ghost text follows its field's text in the same font, and is laid out again only if the field scrolls or changes colour", () => {
    const { ghost, field, show, overlay, lines, letters } = draw();
    field.setAttribute("style", "font-family: Menlo; letter-spacing: 2px; color: red");
    show(" home");
    expect([lines.textContent, letters.textContent]).toEqual(["I went home", " home"]);
    expect(overlay.getAttribute("aria-hidden")).toBe("true");
    expect([lines.style.fontFamily, lines.style.letterSpacing]).toEqual(["Menlo", "2px"]);
    expect(overlay.style.getPropertyValue("--ink")).toBe("red");
    const styled = vi.spyOn(globalThis, "getComputedStyle");
    ghost.follow();
    expect(styled).toHaveBeenCalledTimes(1); // reads the colour only
    field.style.color = "blue";
    ghost.follow();
    expect(overlay.style.getPropertyValue("--ink")).toBe("blue");
    field.scrollTop += 10;
    ghost.follow();
    expect(lines.style.transform).toBe("translate(0px, -10px)");
    ghost.hide();
    field.scrollTop += 10;
    ghost.follow();
    expect([lines.textContent, lines.style.transform]).toEqual(["", "translate(0px, -10px)"]);
  });

  it.each([
    ["I went", "center", "ltr", "0px", "normal"],
    ["I went", "right", "ltr", "0px", "normal"],
    ["I went", "left", "ltr", "auto", "normal"],
    ["I went", "right", "rtl", "auto", "isolate"],
    ["I went", "left", "rtl", "0px", "isolate"],
    ["הלכתי home", "left", "ltr", "auto", "isolate"],
  ])("ghost text in %j, %s %s, moves nothing", (text, textAlign, direction, width, bidi) => {
    const { field, show, letters } = draw(text);
    Object.assign(field.style, { textAlign, direction });
    show(" now");
    expect([letters.style.width, letters.style.unicodeBidi]).toEqual([width, bidi]);
  });

  it("ghost text appears at the caret of an editor, up to the editor's end", () => {
    const { ghost, overlay, lines } = draw();
    overlay.getBoundingClientRect = () => new DOMRect(5, 7, 200, 40);
    const caret = { right: 60, top: 70, height: 18 } as DOMRect;
    const editor = document.createElement("div");
    editor.getBoundingClientRect = () => new DOMRect(0, 0, 200, 100);
    ghost.show({ element: editor, textBefore: () => "", insert: () => "", caret: () => caret }, " home");
    const { left, top, width, height } = overlay.style;
    expect([left, top, width, height]).toEqual(["55px", "63px", "140px", "18px"]);
    expect([lines.textContent, lines.style.lineHeight]).toEqual([" home", "18px"]);
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
