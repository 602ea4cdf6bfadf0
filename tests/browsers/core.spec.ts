// The end-to-end core in every browser. The build in web/dist gives the same text as the native command line, on hosts with the
// headers that threads need and without.
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { expect, test } from "@playwright/test";
import type * as Gpt2 from "../../web/src/client/index.js";
import { StandInHub } from "../weights_tools/stand-in-hub.js";
import { within, type Browser } from "./browser.js";
import { cases } from "./cases.js";
import { serve, type StaticHost } from "./static-host.js";

const root = resolve(import.meta.dirname, "../..");
const demo = resolve(root, "web/models/demo");

const patienceMs = 60_000;
/** A time that is longer than any pause of a load in these tests. */
const hangMs = 15_000;
class HangError extends Error {}
/** The final message of the self-test. */
const selfTested = "/^(Passed|Failed|The test could)/";
/**
 * The progress of a load in a page of these tests, in the project's page, or in its self-test, which also loads a model.
 * "" if none runs.
 */
const loadingState = `(async () => {
  const shown = document.getElementById("loading");
  const tested = document.querySelector(".self-test [role=status]")?.textContent ?? "";
  const loading = globalThis.stateOfLoading ?? (shown?.checkVisibility() ? shown.innerText : "");
  return loading + (${selfTested}.test(tested) ? "" : tested);
})()`;
/** Stores the progress in a page of these tests: for onProgress. */
const keepState = `({ stage, loadedBytes }) => {
  globalThis.stateOfLoading = stage === "ready" ? "" : stage + loadedBytes;
}`;
/** An expression for the text of a part of the page. */
const textOf = (id: string) => `document.getElementById("${id}").textContent`;
const prompt = "One day, a little girl named Lily found";
const call = { maxNewTokens: 40, seed: 7 };

function native(...args: string[]): { ids: number[]; text: string; finish_reason: string } {
  const program = resolve(root, "build/native/weights_tools/gpt2-weights");
  const options = ["--json", "--max-new-tokens", String(call.maxNewTokens), "--seed", String(call.seed)];
  const output = execFileSync(program, ["generate", demo, "--prompt", prompt, ...options, ...args]);
  return JSON.parse(output.toString()) as ReturnType<typeof native>;
}

let isolated: StaticHost;
let plain: StaticHost;
test.beforeAll(async () => {
  const folders = { "/": resolve(root, "web/dist") };
  [isolated, plain] = await Promise.all([serve(true, folders), serve(false, folders)]);
});
test.afterAll(() => Promise.all([isolated.close(), plain.close()]));

for (const { name, launch, mostHangs, store, ...choices } of cases) {
  test.describe.serial(name, () => {
    let browser: Browser;
    let hangs = 0;

    test.beforeAll(async () => void (browser = await launch()));
    test.afterAll(async () => {
      console.log(`${browser.name}: ${hangs} loads repeated`);
      await browser.close();
    });

    /** Rejects when a load in the page makes no progress for `hangMs`. */
    async function untilHang(signal: AbortSignal): Promise<never> {
      let last = "";
      for (let since = performance.now(); ; await new Promise((later) => setTimeout(later, 500))) {
        signal.throwIfAborted();
        const state = await browser.evaluate(loadingState).catch(() => "");
        if (state === "" || state !== last) since = performance.now();
        last = state;
        if (performance.now() - since > hangMs) throw new HangError();
      }
    }

    /** The result of `attempt`, which includes a load; repeats it after a hang (see `mostHangs` in cases.ts). */
    async function repeatHangs<T>(attempt: () => Promise<T>): Promise<T> {
      while (hangs < mostHangs) {
        const watch = new AbortController();
        const attempts = [attempt(), untilHang(watch.signal)];
        for (const one of attempts) one.catch(() => undefined); // the loser of the race
        try {
          return await Promise.race(attempts);
        } catch (error) {
          if (!(error instanceof HangError)) throw error;
          hangs += 1;
        } finally {
          watch.abort();
        }
      }
      return attempt();
    }

    /** Runs `source`, an async function, in a new page, and returns what it resolves to. */
    function inPage<T>(host: StaticHost, source: string): Promise<T> {
      return repeatHangs(async () => {
        await browser.open(`${host.origin}/blank.html`);
        const answer = browser.evaluate(`(${source})().then(JSON.stringify)`);
        return JSON.parse(await within(patienceMs, `the test in ${browser.name}`, answer)) as T;
      });
    }

    /** Waits until a condition holds in a page that may be reloaded meanwhile. */
    async function until(condition: string): Promise<void> {
      const start = performance.now();
      for (;;) {
        const answer = browser.evaluate(`Promise.resolve(String(${condition}))`).catch(() => "reloaded");
        if ((await within(patienceMs, condition, answer)) === "true") return;
        if (performance.now() - start > patienceMs) throw new Error(`never: ${condition}`);
        await new Promise((later) => setTimeout(later, 100));
      }
    }

    /** The result of `use` with the demo model, loaded with two threads if there are threads. */
    function withModel<A, T>(
      host: StaticHost,
      use: (model: Gpt2.Model, argument: A) => Promise<T>,
      argument: A,
    ) {
      return inPage<T>(
        host,
        `async () => {
          const { loadModel } = await import("/gpt2.js");
          const onProgress = ${keepState};
          const model = await loadModel("/models/demo/", { threads: 2, onProgress });
          try {
            return await (${use.toString()})(model, ${JSON.stringify(argument)});
          } finally {
            await model.dispose();
          }
        }`,
      );
    }

    for (const where of ["isolated", "plain"] as const) {
      const { variant, threads, notice } = choices[where];

      test(`writes the same tokens as the native engine on a host ${where === "plain" ? "without" : "with"} headers, as ${variant}`, async () => {
        const found = await withModel(
          where === "isolated" ? isolated : plain,
          async (model, [text, options]) => {
            const { tokens, finishReason } = await model.complete(text, options);
            return { info: model.info, ids: tokens.map((token) => token.id), finishReason };
          },
          [prompt, call] as const,
        );
        expect(found.info.variant).toBe(variant);
        expect(found.info.threads).toBe(threads);
        if (notice) expect(found.info.notice).toMatch(notice);
        else expect(found.info.notice).toBeNull();
        const expected = native();
        expect(found.ids).toEqual(expected.ids);
        expect(found.finishReason).toBe(expected.finish_reason);
      });
    }

    test("generation stops before a stop string", async () => {
      const found = await withModel(
        isolated,
        async (model, [text, options]) => {
          const { text: written, finishReason } = await model.complete(text, { ...options, stop: "She" });
          return { text: written, finish_reason: finishReason };
        },
        [prompt, call] as const,
      );
      const { text, finish_reason } = native("--stop", "She");
      expect(found).toEqual({ text, finish_reason });
      expect(finish_reason).toBe("stop");
    });

    test("an aborted request rejects with the signal's reason, and the next request works", async () => {
      const found = await withModel(
        isolated,
        async (model, [text, options]) => {
          const controller = new AbortController();
          let tokens = 0;
          let reason = "none";
          try {
            const endless = { maxNewTokens: 4000, ignoreEos: true, signal: controller.signal };
            for await (const _ of model.generate(text, endless))
              if (++tokens === 3) controller.abort(new Error("enough"));
          } catch (error) {
            reason = String(error);
          }
          const next = await model.complete(text, options);
          return { reason, tokens, ids: next.tokens.map((token) => token.id) };
        },
        [prompt, call] as const,
      );
      expect(found.reason).toBe("Error: enough");
      expect(found.tokens).toBe(3);
      expect(found.ids).toEqual(native().ids);
    });

    test("stores a model, reads it from storage the next time, and removes it", async () => {
      interface Visit {
        source: string;
        ids: number[];
        notStored: string | null;
      }
      const found = await inPage<{ kind: string | null; visits: Visit[]; listed: number[] }>(
        isolated,
        `async () => {
          const { loadModel, listModels, removeModel, storage } = await import("/gpt2.js");
          const visit = async () => {
            let from = "nowhere";
            const keepState = ${keepState};
            const onProgress = (progress) => {
              keepState(progress);
              if (progress.loadedBytes > 0) from = progress.source;
            };
            const model = await loadModel("/models/demo/", { threads: 2, onProgress });
            const { tokens } = await model.complete(${JSON.stringify(prompt)}, ${JSON.stringify(call)});
            await model.dispose();
            return { source: from, ids: tokens.map(({ id }) => id), notStored: model.info.notStored };
          };
          await removeModel("/models/demo/");
          const visits = [await visit(), await visit()];
          const listed = [(await listModels()).length];
          await removeModel("/models/demo/");
          listed.push((await listModels()).length);
          return { kind: (await storage()).kind, visits, listed };
        }`,
      );
      const { ids } = native();
      expect(found.kind).toBe(store);
      expect(found.visits).toEqual([
        { source: "network", ids, notStored: null },
        { source: "cache", ids, notStored: null },
      ]);
      expect(found.listed).toEqual([1, 0]);
    });

    test("an error names the missing file of a model, and another model loads after it", async () => {
      const found = await inPage<{ name: string; code: string; message: string; ids: number[] }>(
        isolated,
        `async () => {
          const { loadModel } = await import("/gpt2.js");
          const error = await loadModel("/models/none/").catch((caught) => caught);
          const onProgress = ${keepState};
          const model = await loadModel("/models/demo/", { threads: 2, onProgress });
          const ids = await model.tokenize(${JSON.stringify(prompt)});
          await model.dispose();
          return { name: error.name, code: error.code, message: error.message, ids };
        }`,
      );
      expect(found.name).toBe("LoadError");
      expect(found.code).toBe("not-found");
      expect(found.message).toContain("/models/none/config.json");
      expect(found.ids.length).toBeGreaterThan(5);
    });

    test("loads a model of the Hub over a connection that breaks, and a model from files", async () => {
      const hub = new StandInHub();
      for (const name of readdirSync(demo)) hub.files[name] = readFileSync(resolve(demo, name));
      const weights = hub.files["model.safetensors.001"] ?? Buffer.alloc(0);
      let breaks = 0;
      hub.fault = (name, response) => {
        if (name !== "model.safetensors.001" || response.req.headers.range || breaks === 3) return false;
        breaks += 1; // a busy browser that read nothing yet asks for the whole file again
        response.writeHead(200, { "Content-Length": weights.length });
        response.write(weights.subarray(0, 1_000_000), () => setTimeout(() => response.destroy(), 1500));
        return true;
      };
      const origin = await hub.start();
      try {
        const found = await inPage<number[][]>(
          isolated,
          `async () => {
            const { loadModel } = await import("/gpt2.js");
            const names = ${JSON.stringify(readdirSync(demo))};
            const write = async (source, options) => {
              const model = await loadModel(source, { variant: "simd", cache: false, ...options });
              const { tokens } = await model.complete(${JSON.stringify(prompt)}, ${JSON.stringify(call)});
              await model.dispose();
              return tokens.map((token) => token.id);
            };
            const ofHub = await write("user/tale", { hub: "${origin}" });
            const files = await Promise.all(names.map(async (name) =>
              new File([await (await fetch("/models/demo/" + name)).blob()], name)));
            return [ofHub, await write(files, {})];
          }`,
        );
        const { ids } = native();
        expect(found).toEqual([ids, ids]);
        expect(hub.asked.some(({ host, range }) => host === "store" && range !== undefined)).toBe(true);
        expect(hub.preflights).toBe(0);
      } finally {
        hub.stop();
      }
    });

    test("the elements write, load files through a custom fetch, and stream", async () => {
      const found = await inPage<{
        story: string;
        form: string;
        line: string;
        ghost: string;
        streamed: string;
      }>(
        plain,
        `async () => {
          await import("/gpt2-element.js");
          const { loadModel } = await import("/gpt2.js");
          const heard = (type) => new Promise((resolve) => addEventListener(type, resolve, { once: true }));
          const load = { model: "/models/demo/", variant: "simd" };
          const add = (parent, name, attributes) => {
            const element = document.createElement(name);
            for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
            return parent.appendChild(element);
          };
          const form = add(document.body, "form", {});
          const limits = { "max-new-tokens": "40", seed: "7" };
          const writer = add(form, "gpt2-writer", { ...load, ...limits, name: "story", prompt: ${JSON.stringify(prompt)} });
          await writer.write();

          const field = add(form, "textarea", { id: "t" });
          add(form, "gpt2-autocomplete", { ...load, for: "t", delay: "10" });
          field.focus();
          field.value = "Tom and Sue went";
          const proposed = heard("gpt2-done");
          field.dispatchEvent(new InputEvent("input", { bubbles: true }));
          await proposed;
          const ghost = document.querySelector("gpt2-autocomplete").shadowRoot.querySelector(".ghost").textContent;
          field.dispatchEvent(new KeyboardEvent("keydown", { key: "Tab", bubbles: true, cancelable: true }));

          const model = await loadModel("/nowhere/", {
            variant: "simd",
            fetch: (url, init) => fetch(url.replace("nowhere", "models/demo"), init),
          });
          let streamed = "";
          const reader = model.stream(${JSON.stringify(prompt)}, ${JSON.stringify(call)}).getReader();
          for (;;) {
            const { done, value } = await reader.read();
            if (done) break;
            streamed += value;
          }
          await model.dispose();
          const answer = { story: writer.value, form: new FormData(form).get("story"), line: field.value, ghost, streamed };
          form.remove();
          return answer;
        }`,
      );
      const { text } = native();
      expect(found.story).toBe(prompt + text);
      expect(found.form).toBe(found.story);
      expect(found.ghost).toMatch(/^ \w+ \w+/);
      expect(found.line).toBe(`Tom and Sue went${found.ghost}`);
      expect(found.streamed).toBe(text);
    });

    test("the page writes on a host without headers", async () => {
      const found = await repeatHangs(async () => {
        await browser.open(`${plain.origin}/index.html`);
        await until(`${textOf("engine")}.includes("thread")`);
        await until('document.querySelector("#editor .cm-content") !== null');
        await browser.evaluate(
          `(async () => {
            const { view } = document.getElementById("editor");
            const { length } = view.state.doc;
            const insert = ${JSON.stringify(prompt)};
            view.dispatch({ changes: { from: 0, to: length, insert }, selection: { anchor: insert.length } });
            document.getElementById("generate").click();
            return "";
          })()`,
        );
        await until(`${textOf("finish")}.includes("Finished")`);
        const shown = await browser.evaluate(
          `(async () => JSON.stringify({
            engine: ${textOf("engine")},
            notice: document.getElementById("notice").hidden ? "" : ${textOf("notice")},
            output: document.getElementById("editor").view.state.doc.toString(),
          }))()`,
        );
        return JSON.parse(shown) as { engine: string; notice: string; output: string };
      });
      const { variant, notice } = choices.page;
      expect(found.engine).toContain(`${variant},`);
      expect(found.output.length).toBeGreaterThan(prompt.length + 20);
      if (notice) expect(found.notice).toMatch(notice);
      else expect(found.notice).toBe("");
    });

    // Chromium's tests of it are in tests/e2e, and one WebKit is enough.
    if (name !== "Firefox" && name !== "WebKitGTK") return;
    test("keys take suggestions, undo and redo, branch and go back, and change the view", async () => {
      await repeatHangs(async () => {
        await browser.open(`${plain.origin}/index.html`);
        await until(`${textOf("engine")}.includes("thread")`);
        await until('document.querySelector("#editor .cm-content") !== null');
      });
      const value = async (expression: string) =>
        within(patienceMs, expression, browser.evaluate(`(async () => String(${expression}))()`));
      const written = () => value('document.getElementById("editor").view.state.doc.toString()');
      const focus = (selector: string) => value(`document.querySelector("${selector}").focus()`);

      await focus("#editor .cm-content");
      const begun = "Once upon a time, there was a";
      await browser.press("Control+a", ...begun.split(""));
      expect(await written()).toBe(begun);
      await browser.press("Tab");
      await until('document.querySelectorAll(".suggestions li").length === 3');
      await until('document.querySelector(".suggestions").ariaBusy === "false"');
      const suggested = await value('document.querySelector(".suggestions li").textContent');
      await browser.press("Tab");
      const taken = `${begun} ${suggested}`;
      expect(await written()).toBe(taken);
      await browser.press("Control+z");
      expect(await written()).toBe(begun);
      await browser.press("Control+y");
      expect(await written()).toBe(taken);

      await value(`(document.getElementById("option-maxNewTokens").value = "5")`);
      await value('(location.hash = "view=probability")');
      await until(`/^\\d+ tokens$/.test(${textOf("scored")})`);
      expect(Number(await value('document.querySelectorAll("#editor .token").length'))).toBeGreaterThan(5);
      await focus(".cm-content");
      await browser.press("Alt+ArrowDown");
      const other = "#token [aria-pressed=false]:enabled";
      await until(`document.querySelector("${other}") !== null`);
      await focus(other);
      await browser.press("Enter");
      await until(`${textOf("finish")}.includes("Finished")`);
      const branched = await written();
      expect(branched).not.toBe(taken);
      expect(branched.startsWith(begun)).toBe(true);
      await focus("[data-branch='0']");
      await browser.press("Enter");
      await until(`document.getElementById("editor").view.state.doc.toString() === ${JSON.stringify(taken)}`);
    });

    test("the page shows the inside of the model and its state, and passes the self-test", async () => {
      const [seen, tested] = await repeatHangs(async () => {
        await browser.open(`${plain.origin}/index.html#view=inside`);
        await until(
          'document.querySelector("#inside .inside-state p")?.textContent.startsWith("Inspected: 6 layers")',
        );
        const seen = await browser.evaluate(
          `(async () => {
            document.getElementById("device").open = true;
            const { shadowRoot } = document.querySelector(".inside-figures > div");
            const guesses = shadowRoot.querySelectorAll(".lens .guess");
            return [...guesses].map(({ textContent }) => textContent).join("\t");
          })()`,
        );
        await until('document.querySelector("#device-panel dd")?.textContent.includes("release")');
        const status = 'document.querySelector(".self-test [role=status]").textContent';
        await browser.evaluate(`(async () => {
          document.querySelector(".self-test button").click();
          return "";
        })()`);
        await until(`${selfTested}.test(${status})`);
        return [seen, await browser.evaluate(`(async () => ${status})()`)];
      });
      expect(seen).toMatch(/^[^\t]+(\t[^\t]+){6}$/); // the embedding and six layers
      expect(tested).toMatch(/^Passed: all \d+ checks\./);
    });
  });
}
