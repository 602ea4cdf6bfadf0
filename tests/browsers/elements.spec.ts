// The elements behave like native controls in every browser.
import { resolve } from "node:path";
import { expect, test } from "@playwright/test";
import type { Browser } from "./browser.js";
import { cases } from "./cases.js";
import { serve, type StaticHost } from "./static-host.js";

const root = resolve(import.meta.dirname, "../..");

let host: StaticHost;
test.beforeAll(async () => void (host = await serve(false, { "/": resolve(root, "web/dist") })));
test.afterAll(() => host.close());

const keys = (text: string) => Array.from(text);

/** What the pages have: `until` waits for a condition; `heard` has the elements' events. */
const setUp = (body: string) => `(async () => {
  document.body.innerHTML = ${JSON.stringify(body)};
  globalThis.heard = [];
  for (const name of ["gpt2-done", "gpt2-error", "gpt2-accept"])
    document.addEventListener(name, ({ type, detail }) =>
      heard.push([type, detail.text ?? detail.error?.message]));
  globalThis.warned = [];
  const { warn } = console;
  console.warn = (...all) => (warned.push(all.join(" ")), warn(...all));
  globalThis.until = async (holds, what) => {
    for (const end = Date.now() + 60000; !holds(); await new Promise((soon) => setTimeout(soon, 20)))
      if (Date.now() > end) throw new Error("waited in vain for " + (what ?? holds) + JSON.stringify(heard));
  };
  globalThis.frames = async () => {
    for (let i = 0; i < 3; ++i) await new Promise(requestAnimationFrame);
  };
  await import("/gpt2-element.js");
  globalThis.element = document.querySelector("gpt2-autocomplete, gpt2-writer");
  globalThis.field = document.getElementById("f");
  globalThis.ghost = () => element.shadowRoot.querySelector(".ghost").textContent;
  globalThis.suggest = async () => {
    field.focus();
    field.setRangeText("One day, a little girl", 0, field.value.length, "end");
    field.dispatchEvent(new InputEvent("input", { bubbles: true }));
    await until(() => ghost() !== "", "a suggestion");
    return ghost();
  };
  return "";
})()`;

const model = `model="/models/demo/" threads="1"`;
const suggesting = (attributes = "") =>
  `<form><textarea id="f" rows="4" cols="60" ${attributes}></textarea></form>
   <gpt2-autocomplete for="f" ${model} delay="10" max-new-tokens="4"></gpt2-autocomplete>`;
const writing = (attributes = "") =>
  `<form><label for="w">Tale</label><gpt2-writer id="w" name="w" ${model} prompt="One day" ${attributes}></gpt2-writer></form>
   <p></p>`;

for (const { name, launch } of cases.slice(0, 3)) {
  test.describe.serial(`elements in ${name}`, () => {
    let browser: Browser;
    test.beforeAll(async () => void (browser = await launch()));
    test.afterAll(() => browser.close());

    const open = async (body: string) => {
      await browser.open(`${host.origin}/blank.html`);
      await browser.evaluate(setUp(body));
    };
    const evaluate = async (code: string): Promise<unknown> =>
      JSON.parse(
        await browser.evaluate(`(async () => { ${code} })().then((all) => JSON.stringify(all ?? null))`),
      );
    const value = () => evaluate("return field.value");

    for (const [change, code, expected] of [
      ["the text is emptied by a script", `field.value = ""`, ""],
      ["the form is reset", `document.querySelector("form").reset()`, ""],
      ["the field becomes read-only", `field.readOnly = true`, "One day, a little girl"],
    ] as const) {
      test(`a suggestion goes when ${change}, and Tab inserts nothing`, async () => {
        await open(suggesting());
        await evaluate(`await suggest(); ${code}`);
        await browser.press("Tab");
        expect(await value()).toBe(expected);
        expect(
          await evaluate(
            `await frames(); return [ghost(), heard.filter(([type]) => type === "gpt2-accept")]`,
          ),
        ).toEqual(["", []]);
      });
    }

    test("a suggestion is no longer than maxlength allows", async () => {
      await open(suggesting('maxlength="26"'));
      const shown = (await evaluate("return suggest()")) as string;
      expect(shown).toHaveLength(4);
      await browser.press("Tab");
      expect(await value()).toBe(`One day, a little girl${shown}`);
      expect(await evaluate("return heard.at(-1)")).toEqual(["gpt2-accept", shown]);
    });

    test("undo takes back the suggestion alone, and then what was typed", async () => {
      await open(suggesting());
      await evaluate(`field.focus()`);
      await browser.press(...keys("One day she"));
      await evaluate(`await until(() => ghost() !== "")`);
      await browser.press("Tab");
      await browser.press(...keys(" x"));
      expect(String(await value())).toMatch(/^One day she.+ x$/);
      // Control+z does nothing in a WebKitGTK that is driven; the command is the same.
      const undo = () => evaluate(`document.execCommand("undo"); return field.value`);
      let text = await undo();
      for (let i = 0; i < 5 && String(text).length > "One day she".length; ++i) text = await undo();
      expect(text).toBe("One day she");
    });

    test("a suggestion after right-to-left text moves none of it", async () => {
      for (const direction of ["rtl", "ltr", "auto"]) {
        await open(suggesting(`dir="${direction}"`));
        const moved = await evaluate(`
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

    test("passwords and wrong fields get no suggestions, and one message", async () => {
      await open(
        `<input id="f" type="password"><gpt2-autocomplete for="f" ${model} delay="10"></gpt2-autocomplete>`,
      );
      await browser.press("Tab", "a", "b");
      expect(
        await evaluate(`field.focus(); field.value = "One day"; field.dispatchEvent(new InputEvent("input", { bubbles: true }));
          await new Promise((later) => setTimeout(later, 300)); return [ghost(), heard, warned.length]`),
      ).toEqual(["", [], 1]);
    });

    test("a model that is missing is one error for each focus", async () => {
      await open(suggesting().replace("/models/demo/", "/models/none/"));
      await evaluate(`field.focus(); await until(() => heard.length > 0);`);
      await browser.press("a", "b");
      expect(
        await evaluate(
          `await new Promise((later) => setTimeout(later, 500)); return heard.map(([type]) => type)`,
        ),
      ).toEqual(["gpt2-error"]);
    });

    test("another model, or other threads, while one is loaded end the old load silently", async () => {
      await open(writing('loading="eager" max-new-tokens="3"'));
      const heard = await evaluate(`
        element.setAttribute("variant", "simd");
        element.setAttribute("model", "/models/none/");
        await Promise.resolve();
        element.setAttribute("model", "/models/demo/?again");
        element.removeAttribute("variant");
        element.setAttribute("model", "/models/demo/");
        await element.write();
        return [heard.map(([type]) => type), element.shadowRoot.querySelector("[role=status]").textContent]`);
      expect(heard).toEqual([["gpt2-done"], ""]);
    });

    test("a writer that is moved writes on, and one that is given another text stops", async () => {
      await open(writing('max-new-tokens="60" seed="3"'));
      const results = await evaluate(`
        const place = document.querySelector("p");
        element.options = { ignoreEos: true };
        let done = element.write();
        await until(() => element.value.length > 12);
        place.append(element);
        if (document.body.moveBefore) document.body.moveBefore(element, null);
        await done;
        const [type, text] = heard.at(-1);
        const moved = [type, element.value === "One day" + text, text.length > 80];
        element.value = "One day";
        done = element.write();
        await until(() => element.value.length > 12);
        const soFar = element.value;
        element.value = "Now";
        await done;
        const end = heard.at(-1)[1];
        return [moved, element.value, ("One day" + end).startsWith(soFar), heard.filter(([type]) => type === "gpt2-error")]`);
      expect(results).toEqual([["gpt2-done", true, true], "Now", true, []]);
    });

    test("a writer is a control of its form", async () => {
      await open(writing('loading="use" required autofocus').replace('prompt="One day"', ""));
      const results = await evaluate(`
        const form = document.querySelector("form");
        const state = () => [element.willValidate, element.checkValidity(), element.validity.valid, element.validationMessage !== ""];
        const all = [state()];
        element.value = "x";
        all.push(state());
        element.setCustomValidity("Too short");
        all.push([...state(), element.validationMessage, element.validity.customError, form.checkValidity()]);
        element.setCustomValidity("");
        element.disabled = true;
        all.push([element.willValidate, new FormData(form).get("w")]);
        element.disabled = false;
        all.push([new FormData(form).get("w"), element.form === form, element.labels.length, element.type]);
        document.activeElement?.blur();
        document.querySelector("label").click();
        all.push([document.activeElement === element]);
        return all`);
      expect(results).toEqual([
        [true, false, false, true],
        [true, true, true, false],
        [true, false, false, true, "Too short", true, false],
        [false, null],
        ["x", true, 1, "gpt2-writer"],
        [true],
      ]);
    });

    test("a writer without a model says so, and asks nobody", async () => {
      await open("<gpt2-writer></gpt2-writer>");
      expect(
        await evaluate(`await element.write();
          const asked = performance.getEntriesByType("resource").map(({ name }) => name);
          return [heard, asked.filter((name) => name.includes("config.json"))]`),
      ).toEqual([[["gpt2-error", 'expected the attribute "model" with the address of a model']], []]);
    });
  });
}
