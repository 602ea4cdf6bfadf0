// Steps that many tests of the page share.
import { deflateRawSync } from "node:zlib";
import { expect, type BrowserContext, type Page } from "@playwright/test";
import type { EditorView } from "@codemirror/view";

/**
 * Resolves soon after `isSo` is true in the page, or when it gives up. `expect` looks only twice a second, which adds up;
 * but it explains what is missing, so it follows.
 */
const soon = <A>(page: Page, isSo: (argument: A) => boolean, argument: A): Promise<unknown> =>
  page.waitForFunction(isSo as (value: unknown) => boolean, argument, { polling: 50 }).catch(() => undefined);

/** `selector` shows `text`. */
async function expectText(page: Page, selector: string, text: string): Promise<void> {
  const hasText = ([which, part]: readonly [string, string]) =>
    document.querySelector(which)?.textContent.includes(part) ?? false;
  await soon(page, hasText, [selector, text] as const);
  await expect(page.locator(selector)).toContainText(text);
}

/** The model has written, and ended by itself. */
export const expectFinished = (page: Page): Promise<void> => expectText(page, "#finish", "Finished");

/** The model no longer writes, because it has finished or was stopped. */
export const expectIdle = (page: Page): Promise<void> =>
  expect(page.locator("#editor .cm-content")).toHaveAttribute("aria-busy", "false");

/** The editor shows the stored text, with a model or without one. */
export const expectEditor = (page: Page): Promise<void> =>
  expect(page.locator("#editor .cm-content")).toBeVisible();

/** The model is loaded, and no other one is loading. */
export async function expectReady(page: Page): Promise<void> {
  const isReady = () => {
    const shown = (id: string) => document.getElementById(id);
    return (
      shown("engine")?.textContent !== "–" &&
      shown("loading")?.hidden === true &&
      shown("editor")?.querySelector(".cm-content") !== null
    );
  };
  await soon(page, isReady, undefined);
  await expect(page.locator("#engine")).not.toHaveText("–");
  await expect(page.locator("#loading")).toBeHidden();
  await expectEditor(page);
  await expect(page.locator("#generate")).toBeEnabled(); // in any language
}

/** Opens the page without a model: it takes half of the time, and texts are written and stored as well. */
export async function openWithoutModel(page: Page): Promise<void> {
  await withoutModel(page.context());
  await page.goto("./");
  await expectEditor(page);
}

/** No page of `context` gets a model from now on. */
export const withoutModel = (context: BrowserContext): Promise<unknown> =>
  context.route("**/models/**", (route) => route.abort());

/** Opens the page and waits until it is ready. It may contact no other host and throw no error. */
export async function open(page: Page, query = ""): Promise<void> {
  const problems: string[] = [];
  page.on("pageerror", (error) => problems.push(error.message));
  page.on("request", (request) => {
    if (!request.url().startsWith("http://localhost") && !request.url().startsWith("data:"))
      problems.push(`asked ${request.url()}`);
  });
  await page.goto(`./${query}`);
  await expectReady(page);
  expect(problems).toEqual([]);
}

/** Serves the demo in `folder`, too, as another model. */
export async function serveDemoAs(page: Page, folder: string): Promise<void> {
  await page.route(`**/models/${folder}/**`, (route) =>
    route.continue({ url: route.request().url().replace(`/models/${folder}/`, "/models/demo/") }),
  );
}

/** Presses a button that lies in the row below the text or, with less room, in the menu beside it. */
export async function press(page: Page, id: string): Promise<void> {
  const button = page.locator(`#${id}`);
  await button.waitFor({ state: "attached" });
  if (!(await button.isVisible())) await page.locator("#menu-button").click();
  await button.click();
}

/** Opens a section of the side panel: "options", "sharing", "saving-texts" or "device". */
export async function openSection(page: Page, section: string): Promise<void> {
  const details = page.locator(`#${section}`);
  await expect(page.locator("#menu-button")).toBeVisible();
  if (!(await page.locator("#panel").isVisible())) {
    await page.locator("#menu-button").click();
    await page.locator(`#menu [data-section=${section}]`).click();
  } else if ((await details.getAttribute("open")) === null) await details.locator("summary").first().click();
}

/** Closes the side panel where it is open. */
async function closePanel(page: Page): Promise<void> {
  if (await page.locator("#panel").isVisible()) await page.locator("#panel-close").click();
}

/** Closes the panel if it would cover the text. */
async function uncover(page: Page): Promise<void> {
  const { width = 0 } = page.viewportSize() ?? {};
  if (width < 1024) await closePanel(page);
}

/** Shows the text in another way: "Text", "Probability", "Rank", "Tokens", "Inside", or "Sees" for what the model sees. */
export async function showView(page: Page, name: string): Promise<void> {
  await uncover(page);
  await page.locator(`#tab-${name.toLowerCase()}`).click();
}

export async function setOption(page: Page, label: string, value: string): Promise<void> {
  await openSection(page, "options");
  await page.getByLabel(label, { exact: true }).fill(value);
}

/** Sets how many tokens the next text has; the model cannot end it earlier. */
export async function setLength(page: Page, tokens: string): Promise<void> {
  await setOption(page, "Tokens", tokens);
  await page.getByLabel("Ignore end of text").check();
}

/** The seed of the last text, which "Same again" names; the panel may be closed. */
export async function seedOf(page: Page): Promise<string> {
  const same = page.locator("#controls button", { hasText: "Same again" });
  await expect(same).toHaveText(/\d/);
  return /\d+/.exec((await same.textContent()) ?? "")?.[0] ?? "none";
}

/** Presses "Write on". A panel that covers the button is closed before. */
export async function writeOn(page: Page): Promise<void> {
  await uncover(page);
  await page.locator("#generate").click();
}

/** The page's #editor, which has the editor: of a long text, only a part is in the document. */
interface EditorElement extends HTMLElement {
  view: EditorView;
}

/** Runs `use` in the page with its editor. */
export async function inEditor<T, A>(
  page: Page,
  use: (view: EditorView, argument: A) => T,
  argument: A,
): Promise<T> {
  await page.locator("#editor .cm-content").waitFor();
  return page.locator("#editor").evaluate(
    (element, [source, value]) => {
      // eslint-disable-next-line @typescript-eslint/no-implied-eval -- a function reaches the page as its source
      const body = new Function(`return (${source})`)() as (view: EditorView, argument: unknown) => unknown;
      return body((element as EditorElement).view, value);
    },
    [use.toString(), argument] as const,
  ) as Promise<T>;
}

/** Replaces the whole text by `text`, with the caret at its end. */
export async function setText(page: Page, text: string): Promise<void> {
  await inEditor(
    page,
    (view, insert) =>
      view.dispatch({
        changes: { from: 0, to: view.state.doc.length, insert },
        selection: { anchor: insert.length },
        userEvent: "input.paste",
      }),
    text,
  );
}

export const setCaret = (page: Page, offset: number): Promise<void> =>
  inEditor(page, (view, anchor) => view.dispatch({ selection: { anchor }, scrollIntoView: true }), offset);

/** Inserts `text` at `offset`, as an edit by the visitor elsewhere than at the caret. */
export const insertAt = (page: Page, offset: number, text: string): Promise<void> =>
  inEditor(page, (view, [from, insert]) => view.dispatch({ changes: { from, insert } }), [
    offset,
    text,
  ] as const);

/** Continues from the caret. Returns the whole text when the model has finished. */
export async function generate(page: Page): Promise<string> {
  await writeOn(page);
  await expectFinished(page);
  return textOf(page);
}

/** Like `generate`, but continues the text that a page begins with. */
export async function generateAnew(page: Page, beginning = "Once upon a time"): Promise<string> {
  await setText(page, beginning);
  return generate(page);
}

export async function textOf(page: Page): Promise<string> {
  return inEditor(page, ({ state }) => state.doc.toString(), null);
}

/** The text that models wrote, as far as it is in the document, without line breaks. */
export const modelsText = async (page: Page): Promise<string> =>
  (await page.locator("#editor .models").allTextContents()).join("");

/** The fragment of a link to `passage`. */
export const linkTo = (passage: object): string =>
  `#text=${deflateRawSync(JSON.stringify(passage)).toString("base64url")}`;

/** The parts of the page, shadow trees included, that reach beyond the right edge of the window. */
export const partsBeyondWindow = (page: Page): Promise<string[]> =>
  page.evaluate(() =>
    [document, ...[...document.querySelectorAll("*")].flatMap(({ shadowRoot }) => shadowRoot ?? [])]
      .flatMap((root) => [...root.querySelectorAll(":not(head, head *)")])
      .filter((part) => part.getBoundingClientRect().right > window.innerWidth + 0.5)
      .map((part) => `${part.tagName} ${part.id} ${part.className}`),
  );

/** Opens the tab Inside, and waits until it has inspected every layer for the token at the caret. */
export async function lookInside(page: Page): Promise<void> {
  await showView(page, "Inside");
  await expectText(page, "#inside .inside-state [role=status]", "Inspected: ");
}

/** Sets options with which the next text takes several seconds. */
export const prepareLongText = (page: Page): Promise<void> => setLength(page, "4096");

/** Starts a text of several seconds; resolves when it grows. */
export async function startLongText(page: Page): Promise<void> {
  await prepareLongText(page);
  await writeOn(page);
  await expectText(page, "#speed", "tokens/s");
}

/** Presses Stop, and waits until the model has stopped. */
export async function stop(page: Page): Promise<void> {
  await page.getByRole("button", { name: "Stop" }).click();
  await expect(page.locator("#finish")).toContainText("Stopped,");
}

/** Waits until the text has more than `characters` more than now. */
export async function expectGrowth(page: Page, characters: number): Promise<void> {
  const { length } = await textOf(page);
  const growth = async () => (await textOf(page)).length - length;
  await expect.poll(growth).toBeGreaterThan(characters);
}

/** A request to the engine's worker. */
export interface SeenRequest {
  name: string;
  /** The tokens or the letters of its prompt, if it has one, from `start` on. */
  tokens: number | undefined;
  prompt: unknown;
}

interface Watched {
  asked: SeenRequest[];
  /** Names of requests to hold back, and the messages that were held back. */
  hold: string[];
  held: (() => void)[];
  /** How many of the requests whose names were to be held back have an answer. */
  answered: number;
}

/** Records the requests to the engine from the next page load on, and holds back those whose name is in `hold`. */
export async function watchRequests(page: Page, ...hold: string[]): Promise<void> {
  await page.addInitScript((names) => {
    const watched: Watched = { asked: [], hold: names, held: [], answered: 0 };
    Object.assign(window, { watched });
    const post = Reflect.get(Worker.prototype, "postMessage") as (...parts: unknown[]) => void;
    Worker.prototype.postMessage = function (this: Worker, message: unknown, ...rest: never[]) {
      const { id, name, args } = message as {
        id?: number;
        name?: string;
        args?: { prompt?: { length: number }; start?: number };
      };
      const send = () => post.call(this, message, ...rest);
      if (name === undefined) return send();
      const prompt = args?.prompt;
      watched.asked.push({ name, tokens: prompt && prompt.length - (args.start ?? 0), prompt });
      if (!watched.hold.includes(name)) return send();
      watched.held.push(send);
      this.addEventListener("message", ({ data }: MessageEvent<{ id?: number; type: string }>) => {
        if (data.id === id && /done|failed/.test(data.type)) watched.answered += 1;
      });
    };
  }, hold);
}

/** Holds back the requests whose name is in `names` from now on, and counts them and their answers anew. */
export const holdRequests = (page: Page, ...names: string[]): Promise<void> =>
  page.evaluate((hold) => {
    Object.assign((window as unknown as { watched: Watched }).watched, { hold, answered: 0 });
  }, names);

/** How many requests are held back, and how many of those that were held back have an answer. */
export const heldRequests = (page: Page): Promise<{ held: number; answered: number }> =>
  page.evaluate(() => {
    const { held, answered } = (window as unknown as { watched: Watched }).watched;
    return { held: held.length, answered };
  });

/** The requests since the last call. */
export const takeRequests = (page: Page): Promise<SeenRequest[]> =>
  page.evaluate(() => (window as unknown as { watched: Watched }).watched.asked.splice(0));

/** Sends the held messages, and holds back no more. With `count`, it sends the first ones and holds back the others. */
export const releaseRequests = (page: Page, count?: number): Promise<void> =>
  page.evaluate((first) => {
    const { watched } = window as unknown as { watched: Watched };
    if (first === undefined) watched.hold = [];
    for (const send of watched.held.splice(0, first ?? Infinity)) send();
  }, count);

/** Ends the engine's worker as a crash does, and that of a cancelled load, which may still be there. */
export async function killWorker(page: Page): Promise<void> {
  const all = page.workers().filter((each) => /gpt2-worker|^blob:/.test(each.url()));
  if (all.length === 0) throw new Error("the page has no worker");
  const fail = () => {
    setTimeout(() => {
      throw new Error("killed by the test");
    });
  };
  await Promise.all(all.map((worker) => worker.evaluate(fail).catch(() => {}))); // one may end before it answers
}

/** Holds requests for `url` back until the returned function is called. */
export async function hold(page: Page, url: string | RegExp): Promise<() => void> {
  let release = () => {};
  const released = new Promise<void>((resolve) => (release = resolve));
  await page.route(url, async (route) => {
    await released;
    await route.continue();
  });
  return release;
}
