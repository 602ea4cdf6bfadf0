// <gpt2-writer> behaves like a control of the browser's own, in every browser.
import { expect, test } from "@playwright/test";
import { inEveryBrowser, suggesting, writing } from "./elements-page.js";

inEveryBrowser(
  "a writer",
  (page) => {
    test("loading another model or thread count ends the previous load without an error", async () => {
      await page.open(writing('loading="eager" max-new-tokens="3"'));
      const heard = await page.evaluate(`
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

    test("a writer without a model reports it and makes no request", async () => {
      await page.open("<gpt2-writer></gpt2-writer>");
      expect(
        await page.evaluate(`await element.write();
        const asked = performance.getEntriesByType("resource").map(({ name }) => name);
        return [heard, asked.filter((name) => name.includes("config.json"))]`),
      ).toEqual([[["gpt2-error", 'expected the attribute "model" with the address of a model']], []]);
    });

    test("options that change during a load replace the load", async () => {
      await page.open(writing('loading="eager" max-new-tokens="3"').replace('threads="1"', ""));
      const results = await page.evaluate(`
      const stages = [];
      element.addEventListener("gpt2-progress", ({ detail }) => stages.push(detail.stage));
      await until(() => stages.length > 0);
      element.setAttribute("threads", "1");
      element.setAttribute("kv", "q8");
      await element.write();
      return heard.map(([type]) => type)`);
      expect(results).toEqual(["gpt2-done"]);
    });

    test("a writer that is removed during a load stays silent, and loads when it is back", async () => {
      await page.open(writing('loading="eager" max-new-tokens="3"'));
      const results = await page.evaluate(`
      const form = element.parentElement;
      await until(() => element.shadowRoot.querySelector(".busy"), "a load");
      element.remove();
      await pause(1300);
      const silent = heard.length;
      form.append(element);
      await element.write();
      return [silent, heard.map(([type]) => type)]`);
      expect(results).toEqual([0, ["gpt2-done"]]);
    });

    test("a missing model causes one event, however many requests wait for it", async () => {
      await page.open(writing('loading="eager"').replace("/models/demo/", "/models/none/"));
      const results = await page.evaluate(`
      await element.write();
      await pause(100);
      return [heard.map(([type]) => type), element.shadowRoot.querySelector("[role=status]").textContent]`);
      expect(results).toEqual([
        ["gpt2-error"],
        expect.stringMatching(/^Something went wrong: .*config.json/),
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

    test("properties set by frameworks reflect as attributes, and the button still stops the model", async () => {
      await page.open(writing('max-new-tokens="60"'));
      const results = await page.evaluate(`
      element.stop = "zyx"; // as React, Preact, Vue and Solid do
      element.options = { ignoreEos: true };
      const done = element.write();
      await until(() => element.value.length > 12);
      element.shadowRoot.querySelector("button").click();
      await done;
      document.body.append(element);
      const form = document.querySelector("form");
      form.id = "far";
      element.form = "far";
      return [element.getAttribute("stop"), heard.map(([type]) => type), element.form === form]`);
      expect(results).toEqual(["zyx", ["gpt2-done"], true]);
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

    test("a read-only writer accepts no typing and writes nothing", async () => {
      await page.open(writing('loading="use" readonly placeholder="Once"'));
      const results = await page.evaluate(`
      const [text, button] = ["textarea", "button"].map((name) => element.shadowRoot.querySelector(name));
      await element.write();
      const before = [text.readOnly, button.disabled, element.value, heard, text.placeholder, element.readOnly];
      element.readOnly = false;
      return [before, [text.readOnly, button.disabled]]`);
      expect(results).toEqual([
        [true, true, "One day", [], "Once", true],
        [false, false],
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

    test("the writer's labels follow the language around it and the page's language", async () => {
      await page.open(
        `<div lang="de-AT"><section>${writing('loading="use" required').replace('prompt="One day"', "")}</section></div>`,
      );
      const results = await page.evaluate(`
      const words = () => {
        const at = (name) => element.shadowRoot.querySelector(name);
        const [text, button, bar] = ["textarea", "button", "progress"].map(at);
        return [button.textContent, bar.getAttribute("aria-label"), element.validationMessage];
      };
      const around = document.querySelector("div");
      const all = [words()];
      around.lang = "en";
      await pause(0);
      all.push(words());
      document.querySelector("section").lang = "fr";
      elements.setWords("fr", { write: "Écrire" });
      await pause(0);
      all.push(words());
      element.words = { write: "Allez" };
      all.push(words());
      // A shadow tree has the language of its host.
      element.words = {};
      const host = Object.assign(document.createElement("div"), { lang: "de" });
      host.attachShadow({ mode: "open" }).append(element);
      document.body.append(host);
      all.push(words());
      host.removeAttribute("lang");
      await pause(0);
      all.push(words());
      return all`);
      const english = ["Write", "Loading the model", "Please fill in this field."];
      const german = ["Schreiben", "Das Modell wird geladen", "Bitte dieses Feld ausfüllen."];
      expect(results).toEqual([
        german,
        english,
        ["Écrire", ...english.slice(1)],
        ["Allez", ...english.slice(1)],
        german,
        english,
      ]);
    });

    test("errors and suggestions are in the language of the surrounding element", async () => {
      await page.open(
        `<div lang="de">${writing('loading="use"').replace("/models/demo/", "/models/none/")}</div>`,
      );
      const said = await page.evaluate(`
      await element.write();
      return element.shadowRoot.querySelector("[role=status]").textContent`);
      expect(said).toBe("Das Modell wurde nicht gefunden.");
      await page.open(`<div lang="de">${suggesting()}</div>`);
      const spoken = await page.evaluate(`
      await suggest();
      return element.shadowRoot.querySelector("[aria-live]").textContent`);
      expect(spoken).toMatch(/^Vorschlag: .*\. Tab übernimmt ihn, Escape verwirft ihn\.$/);
    });

    test("autofocus works, and the browser restores the text when you come back", async () => {
      await page.openPage();
      await page.until(`document.activeElement?.id === "w"`);
      await page.press("a", "b");
      await page.until(`document.getElementById("w").value === "One dayab"`);
      await page.evaluate(`setTimeout(() => (location.href = "/blank.html"))`);
      await page.until(`location.pathname === "/blank.html"`);
      await page.evaluate(`setTimeout(() => history.back())`);
      await page.until(`document.getElementById("w")?.value === "One dayab"`);
    });
  },
  `<!doctype html><title>A page</title>
<form><gpt2-writer id="w" name="w" loading="use" prompt="One day" autofocus></gpt2-writer></form>
<script>addEventListener("unload", () => {}); // the page is restored, not kept in memory</script>
<script type="module" src="/gpt2-element.js"></script>`,
);
