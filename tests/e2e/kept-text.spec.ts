// The text is stored on the device, and every way back to the page brings it back.
import { readFileSync } from "node:fs";
import { deflateRawSync } from "node:zlib";
import { expect, test, type Page } from "@playwright/test";
import {
  expectEditor,
  expectFinished,
  expectReady,
  hold,
  inEditor,
  open,
  openSection,
  openWithoutModel,
  setOption,
  setText,
  textOf,
  withoutModel,
} from "./page.js";
import { inPage } from "./model.js";
import { expectStored, storedTexts } from "./stored-texts.js";

/** The link to a text. */
const fragmentOf = (passage: object) =>
  `#text=${deflateRawSync(JSON.stringify(passage)).toString("base64url")}`;

const story = "A cat sat here.";

/** Each leaves the page and comes back to it. */
const waysBack: Record<string, (page: Page) => Promise<unknown>> = {
  "a reload": (page) => page.reload(),
  "the address, typed in the same tab": (page) => page.goto("./"),
  "the address of index.html": (page) => page.goto("./index.html"),
  "an address with settings": (page) => page.goto("./?weights=q8"),
  "a link to a view": (page) => page.goto("about:blank").then(() => page.goto("./#view=tokens")),
  "going back": (page) => page.goto("about:blank").then(() => page.goBack()),
};

test("every way back to the page restores the text, the undo history and the options", async ({
  page,
  context,
}) => {
  test.setTimeout(120_000); // eight visits
  await openWithoutModel(page);
  await setText(page, story);
  await openSection(page, "options");
  await page.getByLabel("Seed").fill("42");
  const expectRestored = async (tab: Page, way: string) => {
    await expectEditor(tab);
    expect.soft(await textOf(tab), way).toBe(story);
    await expect.soft(tab.locator("#option-seed"), way).toHaveValue("42");
    await tab.getByRole("button", { name: "Undo" }).click();
    expect.soft(await textOf(tab), way).toBe("Once upon a time");
    await tab.getByRole("button", { name: "Redo" }).click();
    expect.soft(await textOf(tab), way).toBe(story);
  };
  for (const [way, comeBack] of Object.entries(waysBack)) {
    await comeBack(page);
    await expectRestored(page, way);
  }
  await page.close({ runBeforeUnload: true });
  const next = await context.newPage();
  await next.goto("./");
  await expectRestored(next, "another tab, once this one is closed");
});

test("two tabs have separate texts, and each keeps its own", async ({ page, context }) => {
  await openWithoutModel(page);
  await setText(page, story);
  const other = await context.newPage();
  await openWithoutModel(other);
  expect(await textOf(other)).toBe("Once upon a time");
  await setText(other, "A dog.");
  await page.reload();
  await other.reload();
  await expectEditor(page);
  await expectEditor(other);
  expect(await textOf(page)).toBe(story);
  expect(await textOf(other)).toBe("A dog.");
});

/** Hides the page as a back/forward cache does, and meanwhile changes its text to `made` in another tab. */
async function changeElsewhere(page: Page, made: string): Promise<void> {
  await page.evaluate(() => dispatchEvent(new PageTransitionEvent("pagehide", { persisted: true })));
  const other = await page.context().newPage();
  await openWithoutModel(other);
  expect(await textOf(other)).toBe(story);
  for (const text of [`${story} And`, made]) {
    await setText(other, text);
    await expectStored(page, text);
  }
  await other.goto("about:blank");
}

/** Shows the page again, and types `insert` at once. */
const showAgain = (page: Page, insert: string) =>
  inEditor(
    page,
    (view, typed) => {
      dispatchEvent(new PageTransitionEvent("pageshow", { persisted: true }));
      if (typed !== "") view.dispatch({ changes: { from: view.state.doc.length, insert: typed } });
    },
    insert,
  );

test("a page from the browser's cache shows the changes of another tab to its text, and stores later changes", async ({
  page,
}) => {
  await openWithoutModel(page);
  await setText(page, story);
  await expectStored(page, story);
  await changeElsewhere(page, "A cat slept.");
  await showAgain(page, "");
  await expect.poll(() => textOf(page)).toBe("A cat slept.");
  await setText(page, "A cat slept here.");
  await page.reload();
  await expectEditor(page);
  expect(await textOf(page)).toBe("A cat slept here.");
});

test("what is typed at once in a page from the browser's cache becomes a text of its own", async ({
  page,
}) => {
  await openWithoutModel(page);
  await setText(page, story);
  await expectStored(page, story);
  await changeElsewhere(page, "A cat slept.");
  await showAgain(page, " It ran.");
  await expectStored(page, `${story} It ran.`);
  await setText(page, `${story} It ran far.`);
  await expectStored(page, `${story} It ran far.`);
  await expectStored(page, "A cat slept.");
  await page.reload();
  await expectEditor(page);
  expect(await textOf(page)).toBe(`${story} It ran far.`);
});

test("a duplicated tab has a copy, and neither tab overwrites the other", async ({ page, context }) => {
  await openWithoutModel(page);
  await setText(page, story);
  await expectStored(page, story);
  const copied = await page.evaluate(() => Object.entries(sessionStorage) as [string, string][]);
  const twin = await context.newPage();
  await twin.addInitScript((items) => {
    if (window.name === "twin") return; // only once, like the browser
    window.name = "twin";
    for (const [key, value] of items) sessionStorage.setItem(key, value);
  }, copied);
  await openWithoutModel(twin);
  expect(await textOf(twin)).toBe(story);
  await setText(twin, "A copy.");
  await setText(page, "The first.");
  for (const each of [page, twin]) await each.reload();
  await expectEditor(page);
  await expectEditor(twin);
  expect(await textOf(page)).toBe("The first.");
  expect(await textOf(twin)).toBe("A copy.");
});

test("a text of 6 MB survives a reload", async ({ page }) => {
  await open(page);
  await inEditor(
    page,
    (view) => {
      const insert = "The cat sat on the mat, as it did every day of its life.\n".repeat(6_000_000 / 57);
      view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert } });
    },
    null,
  );
  const lengthOf = () => inEditor(page, ({ state }) => state.doc.length, null);
  const length = await lengthOf();
  expect(length).toBeGreaterThan(5_990_000);
  await expect
    .poll(async () => Math.max(...(await storedTexts(page)).map(({ text }) => text.length)), {
      timeout: 30_000,
    })
    .toBe(length);
  await inEditor(page, (view) => view.dispatch({ changes: { from: 7, insert: "!" } }), null);
  await page.reload();
  await expectReady(page);
  expect(await lengthOf()).toBe(length + 1);
});

test("a text in one long line survives a reload, and is never laid out as a whole", async ({ page }) => {
  await openWithoutModel(page);
  await setText(page, "\u{10ffb2}word".repeat(60_000));
  await expect
    .poll(async () => Math.max(...(await storedTexts(page)).map(({ text }) => text.length)))
    .toBeGreaterThan(300_000);
  await page.addInitScript(() => {
    const laidOut = Object.assign(window, { letters: 0 });
    const lettersIn = (nodes: NodeList) =>
      [...nodes].reduce((sum, { textContent }) => sum + (textContent?.length ?? 0), 0);
    // Records also those that were removed again before this runs.
    new MutationObserver((records) => {
      for (const { target, addedNodes } of records)
        if (target instanceof Element && target.closest("#editor")) laidOut.letters += lettersIn(addedNodes);
    }).observe(document, { subtree: true, childList: true });
  });
  await page.reload();
  await expectEditor(page);
  const letters = await page.evaluate(() => (window as unknown as { letters: number }).letters);
  expect(letters).toBeGreaterThan(1000);
  expect(letters).toBeLessThan(100_000);
});

test("a link's text replaces the current one, which Undo restores and a new tab finds", async ({
  page,
  context,
}) => {
  await openWithoutModel(page);
  await setText(page, story);
  const link = fragmentOf({ prompt: "The sea", options: {} });
  await page.goto(`./${link}`);
  await expect(page.locator("#finish")).toContainText("linked text");
  await page.reload();
  await expectEditor(page);
  expect(await textOf(page)).toBe("The sea");
  await page.getByRole("button", { name: "Undo" }).click();
  expect(await textOf(page)).toBe(story);
  await setText(page, "Another one.");
  const other = await context.newPage();
  await openWithoutModel(other);
  expect(await textOf(other)).toBe(story);
});

test("an example stores the text that it replaces, and Undo restores it after a reload", async ({
  page,
  context,
}) => {
  await open(page);
  await setText(page, story);
  await page.getByRole("button", { name: "The old king…" }).click();
  await expectFinished(page);
  await page.reload();
  await expectReady(page);
  await expect.poll(() => textOf(page)).toMatch(/^The old king/);
  const undo = page.getByRole("button", { name: "Undo" });
  while ((await textOf(page)).startsWith("The old")) await undo.click();
  expect(await textOf(page)).toBe(story);
  const other = await context.newPage();
  await open(other);
  expect(await textOf(other)).toBe(story);
});

/** Another tab is shown for a moment. */
const hideAndShow = (page: Page) =>
  page.evaluate(() => {
    for (const value of ["hidden", "visible"]) {
      Object.defineProperty(document, "visibilityState", { value, configurable: true });
      document.dispatchEvent(new Event("visibilitychange", { bubbles: true }));
    }
  });

test("what you type before the stored text is read is inserted at its caret, and both are kept", async ({
  page,
}) => {
  await openWithoutModel(page);
  await setText(page, story);
  await expectStored(page, story);
  await page.addInitScript(() => {
    const open = Reflect.get(IDBFactory.prototype, "open") as (...names: unknown[]) => IDBOpenDBRequest;
    let read = (): void => {};
    const isReadable = new Promise<void>((resolve) => (read = resolve));
    Object.assign(window, { read });
    IDBFactory.prototype.open = function (...names) {
      const request = open.call(this, ...names);
      const listen = Reflect.get(request, "addEventListener") as (...parts: unknown[]) => void;
      request.addEventListener = (type: string, listener: (event: Event) => void) => {
        if (type !== "success" || names[0] !== "gpt2-texts") return listen.call(request, type, listener);
        listen.call(
          request,
          type,
          (event: Event) => void isReadable.then(() => listener.call(request, event)),
        );
      };
      return request;
    };
  });
  const failures: string[] = [];
  page.on("console", (message) => /listener/.test(message.text()) && failures.push(message.text()));
  await page.reload();
  const field = page.locator("textarea#draft");
  await field.focus();
  await page.keyboard.press("Control+End");
  await page.keyboard.type(" It purred.");
  await expect(field).toHaveValue("Once upon a time It purred.");
  await hideAndShow(page);
  const read = () => page.evaluate(() => (window as unknown as { read: () => void }).read());
  await read();
  await expectEditor(page);
  expect(await textOf(page)).toBe(`${story} It purred.`);
  expect(failures).toEqual([]);
  await page.getByRole("button", { name: "Undo" }).click();
  expect(await textOf(page)).toBe(story);
  await page.reload();
  await read();
  await expectEditor(page);
  expect(await textOf(page)).toBe(story); // what was typed early is not inserted again
});

/** Opens the page without the code that stores texts, and types there. Returns a function that lets that code arrive. */
async function typeEarly(page: Page): Promise<() => void> {
  await withoutModel(page.context());
  let arrives: () => void = () => undefined;
  const late = new Promise<void>((resolve) => (arrives = resolve));
  const code = /\/keep-[^/]*\.js/;
  await page.context().route(code, (route) => late.then(() => route.fallback()).catch(() => undefined));
  await page.goto("./", { waitUntil: "domcontentloaded" });
  await page.locator("#draft").press("End");
  await page.keyboard.insertText(", there was a cat");
  return arrives;
}
const early = "Once upon a time, there was a cat";

test("what you type before the code that stores it has arrived survives a reload", async ({ page }) => {
  const arrives = await typeEarly(page);
  await page.reload({ waitUntil: "domcontentloaded" });
  await expect(page.locator("#draft")).toHaveValue(early);
  arrives();
  await expectEditor(page);
  expect(await textOf(page)).toBe(early);
  await page.reload();
  await expectEditor(page);
  expect(await textOf(page)).toBe(early);
});

test("what you type before the code that stores it has arrived survives the tab, and is shown once", async ({
  page,
  context,
}) => {
  const arrives = await typeEarly(page);
  await page.close({ runBeforeUnload: true });
  const next = await context.newPage();
  await next.goto("./", { waitUntil: "domcontentloaded" });
  await expect(next.locator("#draft")).toHaveValue(early);
  arrives();
  await expectEditor(next);
  expect(await textOf(next)).toBe(early);
  await expectStored(next, early);
  const third = await context.newPage();
  await third.goto("./");
  await expectEditor(third);
  expect(await textOf(third)).toBe("Once upon a time");
});

test("what you type early in a tab that stays open is not shown in the next tab", async ({
  page,
  context,
}) => {
  const arrives = await typeEarly(page);
  await hideAndShow(page);
  const next = await context.newPage();
  await next.goto("./", { waitUntil: "domcontentloaded" });
  arrives();
  await expectEditor(next);
  expect(await textOf(next)).toBe("Once upon a time");
  await expectEditor(page);
  expect(await textOf(page)).toBe(early);
});

test("what you type before the page's code runs follows what you typed before a reload", async ({ page }) => {
  await typeEarly(page);
  const runs = await hold(page, "**/assets/index-*.js");
  await page.reload({ waitUntil: "commit" });
  await page.locator("#draft").press("End");
  await page.keyboard.insertText("!");
  runs();
  await expect(page.locator("#draft")).toHaveValue(`${early}!`);
});

/** At the first visit, the stored texts cannot be read. */
const hangOnce = (page: Page) =>
  page.addInitScript(() => {
    if (sessionStorage.getItem("visited") !== null) return;
    sessionStorage.setItem("visited", "yes");
    const open = Reflect.get(IDBFactory.prototype, "open") as (...names: unknown[]) => IDBOpenDBRequest;
    IDBFactory.prototype.open = function (...names) {
      const request = open.call(this, ...names);
      if (names[0] === "gpt2-texts") request.addEventListener = () => {}; // never answers
      return request;
    };
  });

test("what you type early survives a reload, also if the stored texts cannot be read", async ({ page }) => {
  await hangOnce(page);
  const arrives = await typeEarly(page);
  arrives();
  await expectEditor(page);
  await page.reload();
  await expectEditor(page);
  expect(await textOf(page)).toBe(early);
});

test("what you write while the stored texts cannot be read survives a reload", async ({ page }) => {
  await hangOnce(page);
  await openWithoutModel(page);
  await expect(notStored(page)).toBeVisible();
  await setText(page, story);
  await page.reload();
  await expectEditor(page);
  expect(await textOf(page)).toBe(story);
});

test("a passing fault of the storage replaces no text", async ({ page }) => {
  await openWithoutModel(page);
  await setText(page, story);
  await expectStored(page, story);
  await page.addInitScript(() => {
    const open = Reflect.get(IDBFactory.prototype, "open") as (...names: unknown[]) => IDBOpenDBRequest;
    IDBFactory.prototype.open = function (...names) {
      if (sessionStorage.getItem("fails")) throw new DOMException("connection lost", "UnknownError");
      return open.call(this, ...names);
    };
    const wait = setTimeout;
    // The page tries again after five seconds.
    Object.assign(window, { setTimeout: (run: () => void, ms: number) => wait(run, ms === 5000 ? 0 : ms) });
  });
  await page.evaluate(() => sessionStorage.setItem("fails", "yes"));
  await page.reload();
  await expectEditor(page);
  await expect(notStored(page)).toBeVisible();
  await page.evaluate(() => sessionStorage.removeItem("fails"));
  await page.waitForTimeout(1500); // long enough to store a text
  expect(new Set((await storedTexts(page)).map(({ text }) => text))).toEqual(new Set([story]));
  await page.reload();
  await expectEditor(page);
  expect(await textOf(page)).toBe(story);
});

test("an opening that a refused option stops leaves the text as it is stored", async ({ page }) => {
  await openWithoutModel(page);
  await setText(page, story);
  await expectStored(page, story);
  await setOption(page, "Temperature", "99");
  await page.getByRole("button", { name: "The old king…" }).click();
  await expect(page.getByRole("alert")).toBeVisible();
  await setText(page, `${story} It purred.`);
  await expectStored(page, `${story} It purred.`);
  await openSection(page, "library");
  await expect(page.locator("#library-panel .text-name")).toHaveCount(1);
});

const notStored = (page: Page) => page.locator("#unstored");

test("if the browser refuses storage, the page says so at once and offers the text as a file", async ({
  page,
}) => {
  await page.addInitScript(() => {
    IDBFactory.prototype.open = () => {
      throw new DOMException("refused", "SecurityError");
    };
  });
  await page.goto("./");
  await expect(notStored(page)).toContainText("does not allow it");
  await expectEditor(page);
  await setText(page, story);
  const download = page.waitForEvent("download");
  await page.getByRole("button", { name: "Save as a file" }).click();
  const file = await (await download).path();
  expect(readFileSync(file, "utf8")).toBe(story);
});

test("a full disk shows a notice, which disappears once there is room", async ({
  page,
  context,
  baseURL,
}) => {
  await openWithoutModel(page);
  const session = await context.newCDPSession(page);
  const origin = new URL(baseURL ?? "").origin;
  await session.send("Storage.overrideQuotaForOrigin", { origin, quotaSize: 1000 });
  await setText(page, "A cat. ".repeat(100_000));
  await expect(notStored(page)).toContainText("no room left");
  await session.send("Storage.overrideQuotaForOrigin", { origin });
  await expect(notStored(page)).toBeHidden({ timeout: 20_000 });
  await page.reload();
  await expectEditor(page);
  expect((await textOf(page)).length).toBe(700_000);
});

test("on a full disk, a stored model makes room for the text", async ({ page, context, baseURL }) => {
  await open(page);
  await inPage(page, async ({ loadModel }) => (await loadModel("models/demo/")).dispose(), undefined);
  const models = () => inPage(page, async ({ listModels }) => (await listModels()).length, undefined);
  await expect.poll(models).toBe(1);
  const session = await context.newCDPSession(page);
  const usage = await page.evaluate(async () => (await navigator.storage.estimate()).usage ?? 0);
  await session.send("Storage.overrideQuotaForOrigin", {
    origin: new URL(baseURL ?? "").origin,
    quotaSize: usage + 100_000,
  });
  const long = "A cat. ".repeat(100_000);
  await setText(page, long);
  await expectStored(page, long);
  expect(await models()).toBe(0);
  await expect(notStored(page)).toBeHidden();
});

test("a text that a full disk refused when an opening replaced it is stored once there is room", async ({
  page,
}) => {
  await open(page);
  await page.evaluate(() => {
    const put = Reflect.get(IDBObjectStore.prototype, "put") as (...values: unknown[]) => IDBRequest;
    const { device } = Object.assign(window, { device: { isFull: true } });
    IDBObjectStore.prototype.put = function (...values) {
      if (device.isFull) throw new DOMException("", "UnknownError");
      return Reflect.apply(put, this, values) as IDBRequest<IDBValidKey>;
    };
  });
  await setText(page, story);
  await page.getByRole("button", { name: "The old king…" }).click();
  await expectFinished(page);
  await expect(notStored(page)).toBeVisible();
  await page.evaluate(() =>
    Object.assign((window as unknown as { device: object }).device, { isFull: false }),
  );
  await expectStored(page, story);
  await expect(notStored(page)).toBeHidden({ timeout: 20_000 });
});

test("unreadable records neither block the page nor are overwritten", async ({ page }) => {
  await openWithoutModel(page);
  await setText(page, story);
  await expectStored(page, story);
  await page.goto("about:blank#");
  await page.goto("./icons/icon.svg");
  const damaged = () =>
    page.evaluate(async () => {
      const opening = indexedDB.open("gpt2-texts");
      await new Promise((resolve) => (opening.onsuccess = resolve));
      const texts = opening.result.transaction("texts", "readwrite").objectStore("texts");
      const all = texts.getAll();
      await new Promise((resolve) => (all.onsuccess = resolve));
      const records = all.result as { content: unknown }[];
      const whole = records.filter(({ content }) => content !== 1);
      for (const record of whole) texts.put({ ...record, content: 1 });
      opening.result.close();
      return whole.length;
    });
  // The page that was left may store a version while this damages the others.
  await expect.poll(damaged).toBe(0);
  const before = (await storedTexts(page)).length;
  await page.goto("./");
  await expectEditor(page);
  expect(await textOf(page)).toBe("Once upon a time");
  await setText(page, "Anew.");
  await expectStored(page, "Anew.");
  expect((await storedTexts(page)).length).toBeGreaterThan(before);
});
