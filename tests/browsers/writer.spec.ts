// <gpt2-writer> behaves like a control of the browser's own, in every browser.
import { expect, test } from "@playwright/test";
import { inEveryBrowser, writing } from "./elements-page.js";

inEveryBrowser(
  "a writer",
  (page) => {
    test("a writer that is moved keeps writing; one whose text is replaced stops", async () => {
      await page.open(writing('max-new-tokens="60" seed="3"'));
      const results = await page.evaluate(`
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
      await page.open(writing('loading="use" required autofocus').replace('prompt="One day"', ""));
      const results = await page.evaluate(`
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

    test("written text fires input events, so that a page can bind the value", async () => {
      await page.open(writing('max-new-tokens="5"'));
      const results = await page.evaluate(`
      let bound = "";
      const changes = [];
      element.addEventListener("input", ({ target }) => {
        bound = target.value;
        element.value = bound; // as frameworks do
      });
      element.addEventListener("change", () => changes.push(element.value));
      await element.write();
      return [bound === element.value, /^One day.../.test(bound), changes.length, changes[0] === bound]`);
      expect(results).toEqual([true, true, 1, true]);
    });

    test("a writer follows its form: it is invalid, submitted, reset, and disabled by a fieldset", async () => {
      await page.open(
        writing('loading="use" required')
          .replace("<form>", "<form><fieldset>")
          .replace('prompt="One day"', "")
          .replace("</form>", "</fieldset></form>"),
      );
      const results = await page.evaluate(`
      const form = document.querySelector("form");
      const told = [];
      element.addEventListener("invalid", ({ target }) => told.push(target === element));
      form.addEventListener("submit", (event) => (event.preventDefault(), told.push(new FormData(form).get("w"))));
      form.requestSubmit();
      element.value = "a tale";
      form.requestSubmit();
      const fields = [form.elements.w === element, element.matches(":valid"), form.matches(":valid")];
      form.reset();
      const empty = [element.value, element.matches(":invalid"), element.reportValidity()];
      document.querySelector("fieldset").disabled = true;
      const disabled = [element.disabled, element.willValidate, form.checkValidity(), [...new FormData(form)].length];
      return [told, fields, empty, disabled]`);
      expect(results).toEqual([
        [true, "a tale", true],
        [true, true, true],
        ["", true, false],
        [true, false, true, 0],
      ]);
    });

    test("a writer keeps its styles when it moves to another document", async () => {
      await page.open(writing('loading="use"'));
      const looks = await page.evaluate(`
      const frame = document.createElement("iframe");
      document.body.append(frame);
      await pause(50);
      const display = () => getComputedStyle(element.shadowRoot.querySelector("textarea")).display;
      const before = display();
      frame.contentDocument.body.append(element);
      const within = display();
      document.body.append(element);
      return [before, within, display()]`);
      expect(looks).toEqual(["block", "block", "block"]);
    });

    test("autofocus works, and the browser restores the text when you come back", async () => {
      await page.openPage();
      await page.until(`document.activeElement?.id === "w"`);
      await page.press("a", "b");
      // A page that is left before it has loaded gets no entry of its own in the history.
      await page.until(
        `document.readyState === "complete" && document.getElementById("w").value === "One dayab"`,
      );
      await page.evaluate(`setTimeout(() => (location.href = "/blank.html"))`);
      await page.until(`location.pathname === "/blank.html" && document.readyState === "complete"`);
      await page.evaluate(`setTimeout(() => history.back())`);
      await page.until(`document.getElementById("w")?.value === "One dayab"`);
    });
  },
  `<!doctype html><title>A page</title>
<form><gpt2-writer id="w" name="w" loading="use" prompt="One day" autofocus></gpt2-writer></form>
<script>addEventListener("unload", () => {}); // the page is restored, not kept in memory</script>
<script type="module" src="/gpt2-element.js"></script>`,
);
