// Suggestions behave like a browser's own suggestions in a field, in every browser.
import { expect, test } from "@playwright/test";
import { inEveryBrowser, inLine, suggesting } from "./elements-page.js";

const keys = (text: string) => Array.from(text);

inEveryBrowser("suggestions", (page) => {
  const value = () => page.evaluate("return field.value");

  test("undo removes only the suggestion, and then what was typed", async () => {
    await page.open(suggesting());
    await page.evaluate(`field.focus()`);
    await page.press(...keys("One day she"));
    await page.evaluate(`await until(() => ghost() !== "")`);
    await page.press("Tab");
    await page.press(...keys(" x"));
    expect(String(await value())).toMatch(/^One day she.+ x$/);
    // Control+z does nothing in a WebKitGTK that is driven; the command is the same.
    const undo = () => page.evaluate(`document.execCommand("undo"); return field.value`);
    let text = await undo();
    for (let i = 0; i < 5 && String(text).length > "One day she".length; ++i) text = await undo();
    expect(text).toBe("One day she");
  });

  test("a suggestion after right-to-left text moves none of it", async () => {
    for (const direction of ["rtl", "ltr", "auto"]) {
      await page.open(suggesting(`dir="${direction}"`));
      const moved = await page.evaluate(`
        const before = element.shadowRoot.querySelector(".overlay > div").firstChild;
        const boxes = () => {
          const range = document.createRange();
          range.selectNodeContents(before);
          return [...range.getClientRects()].map(({ left, right }) => [left, right].map(Math.round));
        };
        field.value = "הלכתי אל the little girl";
        field.focus();
        field.setSelectionRange(field.value.length, field.value.length);
        field.dispatchEvent(new InputEvent("input", { bubbles: true }));
        await until(() => ghost() !== "", "a suggestion");
        const shown = JSON.stringify(boxes());
        const span = element.shadowRoot.querySelector(".ghost");
        const [mark] = span.getClientRects();
        const isApart = boxes().every(([left, right]) => mark.left >= right - 1 || mark.right <= left + 1);
        span.textContent = "";
        return [shown === JSON.stringify(boxes()), isApart];`);
      expect([direction, moved]).toEqual([direction, [true, true]]);
    }
  });

  test("a field that is drawn as dots gets no suggestions, and the console one message", async () => {
    await page.open(inLine('style="-webkit-text-security: disc"'));
    expect(
      await page.evaluate(`
        for (let i = 0; i < 3; ++i) (field.blur(), write("One day, a little girl"));
        await pause(300);
        return [ghost(), heard, warned]`),
    ).toEqual([
      "",
      [],
      ['gpt2-autocomplete: there are no suggestions in <input id="f">: it may hold a secret'],
    ]);
  });

  test("behind a modal dialog a field gets no suggestions; an element inside the dialog suggests", async () => {
    const dialog = suggesting().replace("<form>", "<dialog><form>").replace("</form>", "</form></dialog>");
    await page.open(dialog);
    const covered = await page.evaluate(`
      const dialog = document.querySelector("dialog");
      dialog.showModal();
      write("One day, a little girl");
      await pause(500);
      return [ghost(), heard, warned]`);
    expect(covered).toEqual([
      "",
      [],
      [expect.stringMatching(/covers its suggestions: put <gpt2-autocomplete> into it/)],
    ]);
    await page.evaluate(`
      document.querySelector("dialog").append(element);
      return suggest()`);
  });

  test("a suggestion disappears with its field, and works again when the field is back", async () => {
    await page.open(suggesting());
    const shown = await page.evaluate(`
      const form = document.querySelector("form");
      await suggest();
      form.remove();
      await until(() => ghost() === "", "an end");
      document.body.prepend(form);
      await suggest("One day, a little boy");
      return ghost() !== ""`);
    expect(shown).toBe(true);
    await page.evaluate(`document.querySelector("form").innerHTML = '<fieldset></fieldset>';
      document.querySelector("fieldset").append(field);
      await suggest("One day, a little cat");
      document.querySelector("fieldset").disabled = true;
      await until(() => ghost() === "", "an end")`);
  });

  test("an element works with a field in the same shadow tree", async () => {
    await page.open(suggesting());
    const shown = await page.evaluate(`
      const host = document.createElement("div");
      const root = host.attachShadow({ mode: "open" });
      root.append(...document.body.childNodes);
      document.body.append(host);
      return suggest()`);
    await page.press("Tab");
    expect(await value()).toBe(`One day, a little girl${String(shown)}`);
  });

  test("taking a word is one undo step", async () => {
    await page.open(suggesting());
    const shown = String(await page.evaluate(`field.focus(); return suggest()`));
    await page.press("Control+ArrowRight");
    const word = /^\s*\w+/.exec(shown)?.[0] ?? "";
    expect(await value()).toBe(`One day, a little girl${word}`);
    expect(await page.evaluate(`document.execCommand("undo"); return field.value`)).toBe(
      "One day, a little girl",
    );
  });

  test("a page that controls the field's value keeps control of it", async () => {
    await page.open(suggesting());
    const shown = String(
      await page.evaluate(`
        field.addEventListener("input", () => {
          field.value = field.value.toUpperCase(); // as a framework does that controls the field
        });
        return suggest()`),
    );
    expect(await value()).toBe("ONE DAY, A LITTLE GIRL");
    await page.press("Tab");
    expect(await value()).toBe(`ONE DAY, A LITTLE GIRL${shown.toUpperCase()}`);
    expect(await page.evaluate(`return heard.find(([type]) => type === "gpt2-accept")`)).toEqual([
      "gpt2-accept",
      shown.toUpperCase(),
    ]);
  });

  /** How far a suggestion is from where the text of a field ends, across and down; 0 for less than two pixels. */
  const apart = `(() => {
    const style = getComputedStyle(field);
    const ruler = Object.assign(document.createElement("span"), { textContent: field.value });
    ruler.style.cssText = "position: absolute; white-space: pre; letter-spacing: 0; font: " + style.font;
    field.after(ruler);
    const [box, text] = [field.getBoundingClientRect(), ruler.getBoundingClientRect().width];
    const scale = box.width / field.offsetWidth;
    ruler.remove();
    const sides = [style.borderLeftWidth, style.paddingLeft].map(parseFloat).reduce((a, b) => a + b) * scale;
    const end =
      style.textAlign === "center" ? box.left + box.width / 2 + text / 2 :
      style.direction === "rtl" ? box.right - sides - text : box.left + sides + text;
    const range = document.createRange();
    range.selectNodeContents(element.shadowRoot.querySelector(".ghost"));
    const mark = range.getBoundingClientRect();
    const across = style.direction === "rtl" ? mark.right - end : mark.left - end;
    const middle = (mark.top + mark.bottom - box.top - box.bottom) / 2;
    return [across, middle].map((pixels) => (Math.abs(pixels) < 2 ? 0 : pixels));
  })()`;
  const fixed = "font: 16px monospace; padding: 4px 6px; border: 2px solid; width: 600px";

  for (const [where, style, around] of [
    ["as it is", "", ""],
    ["with parts of pixels", "width: 600.4px; border-width: 1.3px; margin-left: 0.6px", ""],
    ["centred", "text-align: center", ""],
    ["from right to left", "direction: rtl", ""],
    ["transformed", "", "transform: scale(1.5); transform-origin: 0 0"],
    ["zoomed with all around it", "", "zoom: 1.5"],
  ] as const) {
    test(`a suggestion appears where the text ends, in a field ${where}`, async () => {
      const field = inLine(`style="${fixed}; ${style}"`);
      const isZoomed = around.startsWith("zoom"); // WebKit measures in zoomed pixels
      await page.open(
        isZoomed
          ? `<div style="${around}">${field}</div>`
          : field.replace("<form>", `<form style="${around}">`),
      );
      expect(await page.evaluate(`await suggest(); await frames(); return ${apart}`)).toEqual([0, 0]);
      // The suggestion follows a field that a script moves.
      const moved = `document.body.prepend(Object.assign(document.createElement("p"), { textContent: "New" }))`;
      expect(await page.evaluate(`${moved}; await frames(); return ${apart}`)).toEqual([0, 0]);
    });
  }

  for (const [full, style] of [
    ["that is full", "width: 8em"],
    ["whose text is aligned to its end", "text-align: right"],
  ] as const) {
    test(`a field ${full} shows no suggestion, and Tab does what the page defines`, async () => {
      await page.open(inLine(`style="${fixed}; ${style}"`));
      // No event says that a suggestion has no room: the element lays it out, and then removes it.
      await page.evaluate(`
        let isTried = false;
        const letters = element.shadowRoot.querySelector(".ghost");
        new MutationObserver(() => (isTried = true)).observe(letters, { characterData: true, subtree: true });
        write("One day, a little girl");
        await until(() => isTried, "an attempt to draw");
        await frames();`);
      expect(await page.evaluate("return [ghost(), heard]")).toEqual(["", []]);
      await page.evaluate(
        `addEventListener("keydown", ({ defaultPrevented }) => (globalThis.isTaken = defaultPrevented))`,
      );
      await page.press("Tab");
      expect(await page.evaluate("return [field.value, isTaken]")).toEqual(["One day, a little girl", false]);
    });
  }
});
