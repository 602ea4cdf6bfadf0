// What only real browsers have: the undo stack, layout, the top layer, form controls and restored text. In every browser,
// the elements use them like a control of the browser's own. Unit tests have the rest: tests/web.
import { expect, test } from "@playwright/test";
import { FaultyHost } from "../e2e/faulty-host.js";
import { engines } from "./cases.js";
import { ElementsPage, inLine, suggesting, type Given } from "./elements-page.js";
import { inBrowsers } from "./tab.js";

/** A page whose text the browser restores. It has `unload`, so that it is not kept in memory in Chromium and Firefox. */
const lasting = `<!doctype html><title>A page</title>
<form><gpt2-writer id="w" name="w" loading="use" prompt="One day" autofocus></gpt2-writer>
<textarea id="own" name="own"></textarea></form>
<script>addEventListener("unload", () => {});</script>
<script type="module" src="/gpt2-element.js"></script>`;

const host = new FaultyHost({ isIsolated: false, isCached: true });
host.answer(/^lasting$/, (response) => {
  response.writeHead(200, { "Content-Type": "text/html" }).end(lasting);
});
test.beforeAll(() => host.start());
test.afterAll(() => host.stop());

/** How far a suggestion is from where the text of a field ends, across and down; 0 for less than two pixels. */
async function apart({ field, shadow, frames }: Given): Promise<number[]> {
  await frames();
  const style = getComputedStyle(field);
  const ruler = Object.assign(document.createElement("span"), { textContent: field.value });
  ruler.style.cssText = `position: absolute; white-space: pre; letter-spacing: 0; font: ${style.font}`;
  field.after(ruler);
  const [box, text] = [field.getBoundingClientRect(), ruler.getBoundingClientRect().width];
  ruler.remove();
  const scale = box.width / field.offsetWidth;
  const sides = (parseFloat(style.borderLeftWidth) + parseFloat(style.paddingLeft)) * scale;
  const isRightToLeft = style.direction === "rtl";
  let end = isRightToLeft ? box.right - sides - text : box.left + sides + text;
  if (style.textAlign === "center") end = box.left + box.width / 2 + text / 2;
  const range = document.createRange();
  range.selectNodeContents(shadow(".ghost"));
  const mark = range.getBoundingClientRect();
  const across = (isRightToLeft ? mark.right : mark.left) - end;
  const middle = (mark.top + mark.bottom - box.top - box.bottom) / 2;
  return [across, middle].map((pixels) => (Math.abs(pixels) < 2 ? 0 : pixels));
}

inBrowsers(engines, (tab, { name }) => {
  const page = new ElementsPage(tab, () => host.page);
  // Control+z does nothing in a WebKitGTK that is driven; the command is the same.
  // eslint-disable-next-line @typescript-eslint/no-deprecated -- nothing else undoes
  const undo = () => page.run(({ field }) => (document.execCommand("undo"), field.value));

  test("taking a suggestion is one undo step, and so is taking one of its words", async () => {
    await page.open(suggesting());
    await page.run(({ field }) => field.focus());
    await tab.press(...Array.from("One day she"));
    await page.run(({ until, ghost }) => until(() => ghost() !== ""));
    await tab.press("Tab", " ", "x");
    expect(await page.value()).toMatch(/^One day she.+ x$/);
    let text = await undo();
    for (let i = 0; i < 5 && text.length > "One day she".length; ++i) text = await undo();
    expect(text).toBe("One day she");

    const shown = await page.run(({ suggest }) => suggest());
    await tab.press("Control+ArrowRight");
    const word = /^\s*\w+/.exec(shown)?.[0] ?? "";
    expect(await page.value()).toBe(`One day, a little girl${word}`);
    expect(await undo()).toBe("One day, a little girl");
  });

  test("a suggestion after right-to-left text moves none of it", async () => {
    await page.open(suggesting());
    const found = await page.run(async ({ field, shadow, suggest }) => {
      const letters = document.createRange();
      const boxes = () => Array.from(letters.getClientRects(), ({ left, right }) => [left, right] as const);
      const moved: Record<string, { isMoved: boolean; isApart: boolean }> = {};
      for (const direction of ["rtl", "ltr", "auto"]) {
        field.dir = direction;
        await suggest("הלכתי אל the little girl");
        letters.selectNodeContents(shadow(".overlay > div").firstChild as Node);
        const shown = boxes();
        const mark = shadow(".ghost").getClientRects()[0] ?? new DOMRect();
        const isApart = shown.every(([left, right]) => mark.left >= right - 1 || mark.right <= left + 1);
        shadow(".ghost").style.display = "none";
        const isMoved = String(shown.flat().map(Math.round)) !== String(boxes().flat().map(Math.round));
        moved[direction] = { isMoved, isApart };
        shadow(".ghost").style.display = "";
        field.blur();
      }
      return moved;
    });
    const right = { isMoved: false, isApart: true };
    expect(found).toEqual({ rtl: right, ltr: right, auto: right });
  });

  test("a field that is drawn as dots gets no suggestions, because it may hold a secret", async () => {
    await page.open(inLine('style="-webkit-text-security: disc"'));
    const warned = await page.run(({ field, warned: said }) => {
      field.focus();
      return said;
    });
    expect(warned).toEqual([expect.stringMatching(/no suggestions in <input id="f">: it may hold a secret/)]);
  });

  test("behind a modal dialog a field gets no suggestions; an element inside the dialog suggests", async () => {
    await page.open(suggesting().replace("<form>", "<dialog><form>").replace("</form>", "</form></dialog>"));
    const covered = await page.run(async ({ write, frames, ghost, heard, warned }) => {
      document.querySelector("dialog")?.showModal();
      write("One day, a little girl");
      await frames();
      return [ghost(), heard, warned];
    });
    const message = /covers its suggestions: put <gpt2-autocomplete> into it/;
    expect(covered).toEqual(["", [], [expect.stringMatching(message)]]);
    await page.run(({ autocomplete, suggest }) => {
      document.querySelector("dialog")?.append(autocomplete);
      return suggest();
    });
  });

  test("in a shadow tree, too, a page that controls the field's value keeps control of it", async () => {
    await page.open(suggesting());
    const shown = await page.run(({ field, suggest }) => {
      const outer = document.createElement("div");
      outer.attachShadow({ mode: "open" }).append(...document.body.childNodes);
      document.body.append(outer);
      // As a framework does that controls the field.
      field.addEventListener("input", () => (field.value = field.value.toUpperCase()));
      return suggest();
    });
    expect(await page.value()).toBe("ONE DAY, A LITTLE GIRL");
    await tab.press("Tab");
    const inserted = shown.toUpperCase();
    expect(await page.value()).toBe(`ONE DAY, A LITTLE GIRL${inserted}`);
    expect(await page.run(({ heard }) => heard)).toContainEqual(["gpt2-accept", inserted]);
  });

  const fixed = "font: 16px monospace; padding: 4px 6px; border: 2px solid; width: 600px";

  test("a suggestion appears where the text ends, however the field is styled, and follows it", async () => {
    await page.open(`<div>${inLine()}</div>`);
    for (const [style, ofForm, ofAll] of [
      ["", "", ""],
      ["width: 600.4px; border-width: 1.3px; margin-left: 0.6px", "", ""],
      ["text-align: center", "", ""],
      ["direction: rtl", "", ""],
      ["", "transform: scale(1.5); transform-origin: 0 0", ""],
      ["", "", "zoom: 1.5"], // with the element, because WebKit measures in zoomed pixels
    ] as const) {
      await page.run(
        ({ field, form, suggest }, [own, around, all]) => {
          field.blur();
          field.style.cssText = own;
          form.style.cssText = around;
          form.parentElement?.setAttribute("style", all);
          return suggest();
        },
        [`${fixed}; ${style}`, ofForm, ofAll] as const,
      );
      expect(await page.run(apart), style + ofForm + ofAll).toEqual([0, 0]);
      await page.run(() => document.body.prepend(document.createElement("p"), "New"));
      expect(await page.run(apart), `moved: ${style}${ofForm}${ofAll}`).toEqual([0, 0]);
    }
  });

  test("a field without room at its text's end shows no suggestion, and Tab does what the page defines", async () => {
    for (const style of ["width: 8em", "text-align: right"]) {
      await page.open(inLine(`style="${fixed}; ${style}"`));
      // No event says that a suggestion has no room: the element lays it out, and then removes it.
      const found = await page.run(async ({ shadow, write, until, frames, ghost, heard }) => {
        let isTried = false;
        const letters = { characterData: true, subtree: true };
        new MutationObserver(() => (isTried = true)).observe(shadow(".ghost"), letters);
        write("One day, a little girl");
        await until(() => isTried);
        await frames();
        addEventListener("keydown", (event) => Object.assign(globalThis, { key: event }));
        return [ghost(), heard];
      });
      expect(found, style).toEqual(["", []]);
      await tab.press("Tab");
      expect(await page.value()).toBe("One day, a little girl");
      expect(await tab.run(() => Reflect.get(globalThis, "key").defaultPrevented)).toBe(false);
    }
  });

  test("a writer is a control of its form, like one of the browser's own", async () => {
    await page.open(
      `<form><fieldset><label for="w">Tale</label>
       <gpt2-writer id="w" name="w" model="/models/demo/" loading="use" required></gpt2-writer></fieldset></form>`,
    );
    const found = await page.run(({ writer, form }) => {
      const sent: unknown[] = [];
      form.addEventListener("submit", (event) => {
        event.preventDefault();
        sent.push(new FormData(form).get("w"));
      });
      const isValid = () => writer.willValidate && writer.matches(":valid");
      const state = () => [isValid(), form.checkValidity(), new FormData(form).get("w")];
      form.requestSubmit();
      const empty = state();
      writer.value = "a tale";
      form.requestSubmit();
      const filled = state();
      document.querySelector("label")?.click();
      const isFocused = document.activeElement === writer;
      form.reset();
      const reset = state();
      document.querySelector("fieldset")?.toggleAttribute("disabled", true);
      return { sent, empty, filled, isFocused, reset, disabled: [writer.disabled, ...state()] };
    });
    const missing = [false, false, ""];
    expect(found).toEqual({
      sent: ["a tale"],
      empty: missing,
      filled: [true, true, "a tale"],
      isFocused: true,
      reset: missing,
      disabled: [true, false, true, null],
    });
  });

  test("a writer keeps its styles when it moves to another document", async () => {
    await page.open('<gpt2-writer loading="use"></gpt2-writer>');
    const looks = await page.run(async ({ writer, shadow }) => {
      const frame = document.createElement("iframe");
      await new Promise((loaded) => {
        frame.addEventListener("load", loaded, { once: true });
        document.body.append(frame);
      });
      const display = () => getComputedStyle(shadow("textarea")).display;
      const before = display();
      frame.contentDocument?.body.append(writer);
      const within = display();
      document.body.append(writer);
      return [before, within, display()];
    });
    expect(looks).toEqual(["block", "block", "block"]);
  });

  test("autofocus works, and a browser that restores the page's own fields restores a writer, too", async () => {
    await tab.open(`${host.address}lasting`);
    await tab.until(() => document.activeElement?.id === "w");
    await tab.press("a", "b");
    await tab.run(() => void ((document.getElementById("own") as HTMLTextAreaElement).value = "typed"));
    await tab.run((blank) => void setTimeout(() => location.assign(blank)), host.page);
    await tab.until((blank) => location.href === blank && document.readyState === "complete", host.page);
    await tab.run(() => void setTimeout(() => history.back()));
    await tab.until(() => customElements.get("gpt2-writer") && document.readyState === "complete");
    // WebKitGTK restores nothing in a page that it did not keep in memory, which it decides anew each time.
    const isRestored = await tab.run(
      () => (document.getElementById("own") as HTMLTextAreaElement).value === "typed",
    );
    if (name !== "WebKitGTK") expect(isRestored).toBe(true);
    await tab.until(
      (text) => (document.getElementById("w") as HTMLTextAreaElement | null)?.value === text,
      isRestored ? "One dayab" : "One day",
    );
  });
});
