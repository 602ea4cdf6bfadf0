// The page with other models than its own: of the hub, and of files that are picked or dropped.
import { cpSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { expect, test, type Page } from "@playwright/test";
import type { StandInHub } from "../weights_tools/stand-in-hub.js";
import { expectAccessible, violationsIn } from "./axe.js";
import { startDemoHub } from "./demo-hub.js";
import { demo } from "./model.js";
import {
  expectFinished,
  expectReady,
  generate,
  hold,
  open,
  press,
  serveDemoAs,
  setOption,
  setText,
  textOf,
  writeOn,
} from "./page.js";

let hub: StandInHub;
let asked: string[];
test.beforeEach(async ({ page }) => {
  asked = [];
  hub = await startDemoHub(page, (pathname) => void asked.push(pathname));
});
test.afterEach(() => hub.stop());

const chooser = (page: Page) => page.locator("#chooser");
const status = (page: Page) => page.locator("#hub-status");

async function lookUp(page: Page, id: string): Promise<void> {
  if ((await chooser(page).getAttribute("open")) === null) await chooser(page).locator("summary").click();
  await page.getByLabel("From the Hugging Face hub").fill(id);
  await page.getByRole("button", { name: "Look up" }).click();
}

/** Drops files and folders of this disk on the text. */
async function dropPaths(page: Page, ...files: string[]): Promise<void> {
  const session = await page.context().newCDPSession(page);
  const data = { items: [], files, dragOperationsMask: 1 };
  const line = page.locator("#editor .cm-line").first();
  await line.scrollIntoViewIfNeeded(); // the page follows what the model writes
  const box = await line.boundingBox();
  const at = { x: (box?.x ?? 0) + 20, y: (box?.y ?? 0) + 10 };
  const drag = (type: "dragEnter" | "dragOver" | "drop") =>
    session.send("Input.dispatchDragEvent", { type, ...at, data });
  await drag("dragEnter");
  await drag("dragOver");
  await expect(page.locator("body")).toHaveClass("dropping");
  await drag("drop");
  await expect(page.locator("body")).not.toHaveClass("dropping");
  await session.detach();
}

test("a model of the Hub shows its size first, then writes, and a reload loads it again", async ({
  page,
}) => {
  await open(page);
  const before = await generate(page);
  await lookUp(page, "user/tale");
  await expect(status(page)).toContainText("user/tale: 8.2 MB to download from huggingface.co. About ");
  expect(asked).toEqual(["/api/models/user/tale/revision/main"]);
  await page.setViewportSize({ width: 320, height: 800 });
  await expectAccessible(page);
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(320);
  await page.getByRole("button", { name: "Download" }).click();
  await expect(page.locator("#chooser-name")).toHaveText("user/tale");
  await expectReady(page);
  expect(asked.some((path) => path.includes("/user/tale/resolve/"))).toBe(true);
  // The text is still there, and the new model continues it.
  expect(await textOf(page)).toBe(before);
  await press(page, "continue");
  await expectFinished(page);
  expect((await textOf(page)).startsWith(before)).toBe(true);
  expect(new URL(page.url()).search).toBe("?model=hf:user/tale");
  await page.reload();
  await expectReady(page);
  await expect(page.locator("#chooser-name")).toHaveText("user/tale");
});

test("the models of the site appear once the list is read; another one keeps the text and its language", async ({
  page,
}) => {
  const other = { folder: "another", name: "Another", parameters: 124_439_808, bytes: 131_900_000 };
  const same = { folder: "demo", name: "The same", parameters: 12_417_024, bytes: 8_261_897 };
  await serveDemoAs(page, other.folder);
  let isBroken = true;
  await page.route("**/models/index.json", (route) =>
    route.fulfill(
      isBroken ? { status: 503 } : { json: [other, { ...other, folder: "../elsewhere" }, null, same] },
    ),
  );
  await open(page);
  await setText(page, "The sea was");
  await setOption(page, "Tokens", "8");
  const written = await generate(page);
  const summary = chooser(page).locator("summary");
  const offered = page.locator("#site-models-list button");

  await test.step("a list that could not be read is read when the chooser is opened again", async () => {
    const answered = page.waitForResponse("**/models/index.json");
    await summary.click();
    await answered;
    await expect(page.getByRole("button", { name: "Look up" })).toBeVisible();
    await expect(page.locator("#site-models")).toBeHidden();
    isBroken = false;
    await summary.click();
    await summary.click();
    await expect(offered).toHaveText([
      /^Another: 124 million parameters, 132 MB\. About 210 MB of memory\. On this device about [\d,.]+ tokens\/s\.$/,
      /^Demo, children's stories: 12 million parameters, 8\.3 MB\. /,
    ]);
  });

  await test.step("the current model is not loaded again", async () => {
    const fetched: string[] = [];
    page.on("request", (request) => fetched.push(request.url()));
    await offered.last().click();
    await expect(chooser(page)).not.toHaveAttribute("open");
    await generate(page);
    expect(fetched.filter((url) => url.includes("/models/demo/"))).toEqual([]);
    await expect(page.locator("#chooser-name")).toHaveText("demo");
    await page.getByRole("button", { name: "Undo" }).click();
    expect(await textOf(page)).toBe(written);
  });

  await test.step("another model loads, and each model's text keeps its language", async () => {
    /** The distinct languages of the parts that models wrote. Text of several lines has several parts. */
    const languages = () =>
      page
        .locator("#editor .models")
        .evaluateAll((parts) => [...new Set(parts.map((part) => part.getAttribute("lang")))]);
    await summary.click();
    await offered.first().click();
    await expect(page.locator("#chooser-name")).toHaveText("Another");
    await expectReady(page);
    expect(await textOf(page)).toBe(written);
    expect(new URL(page.url()).search).toBe("?model=models/another/");
    expect(await languages()).toEqual(["en"]);
    await press(page, "continue");
    await expectFinished(page);
    expect(await languages()).toEqual(["en", null]); // the language of that model is unknown
    await page.reload();
    await expectReady(page);
    expect(await languages()).toEqual(["en", null]);
  });
});

test("nothing is downloaded before the page shows the size, or that it is unknown", async ({
  page,
  baseURL,
}) => {
  // The page is built for a site that lists this host.
  await page.route(baseURL ?? "", async (route) => {
    const response = await route.fetch();
    const body = (await response.text()).replace("connect-src ", "connect-src https://models.example ");
    await route.fulfill({ response, body });
  });
  await page.route("**/assets/offers-*.js", (route) => route.abort());
  await open(page);
  await lookUp(page, "user/tale");
  await expect(status(page)).toContainText("This part of the page could not be loaded: ");
  await page.unroute("**/assets/offers-*.js");
  await page.reload();
  await expectReady(page);
  // If the Hub's own address fails, those of its files may still answer.
  await page.route("https://huggingface.co/api/**", (route) => route.fulfill({ status: 503 }));
  await lookUp(page, "user/tale");
  await expect(status(page)).toHaveText("huggingface.co answered with the error 503: try again later.");
  await expect(page.getByRole("button", { name: "Download" })).toBeVisible();
  expect(asked).toEqual([]);
  const elsewhere: string[] = [];
  await page.route("https://models.example/**", (route) => {
    elsewhere.push(route.request().url());
    return route.abort();
  });
  await lookUp(page, "https://other.example/tale/");
  await expect(status(page)).toHaveText(
    "The model could not be loaded: this page may not contact other.example: its owner has not allowed that host.",
  );
  await page.getByLabel("From the Hugging Face hub").fill("https://models.example/tale/");
  await page.getByRole("button", { name: "Look up" }).dblclick();
  await expect(status(page)).toHaveText("models.example does not state the download size of tale.");
  expect(elsewhere).toEqual([]);
  await page.getByRole("button", { name: "Download" }).click();
  await expect.poll(() => elsewhere).toContain("https://models.example/tale/config.json");
});

test("a link to a model of the Hub makes no request before the visitor confirms", async ({ page }) => {
  await page.goto("./?model=hf:user/tale");
  await expect(status(page)).toContainText("names user/tale, which is on huggingface.co");
  await writeOn(page); // asks again, and fetches nothing
  await expect(page.getByLabel("From the Hugging Face hub")).toBeFocused();
  await expect(status(page)).toBeInViewport();
  await expect(status(page)).toContainText("That host is contacted only if you look it up");
  await page.waitForLoadState("networkidle");
  expect(asked).toEqual([]);
  await page.getByRole("button", { name: "Look up" }).click();
  await page.getByRole("button", { name: "Download" }).click();
  await expectReady(page);
  await generate(page);
});

test("a name that is no id is explained beside its field", async ({ page }) => {
  await open(page);
  const field = page.getByLabel("From the Hugging Face hub");
  for (const text of ["", "my model", "ftp://models.example/tale/"]) {
    await lookUp(page, text);
    await expect(status(page), text).toHaveText(/^Expected the id of a model, such as/);
    await expect(field, text).toHaveAttribute("aria-invalid", "true");
    await expect(field, text).toBeFocused();
    await expect(field, text).toHaveAccessibleDescription(/^Expected the id of a model/);
  }
  expect(asked).toEqual([]);
  expect(await violationsIn(page)).toEqual([]);
});

test("an address of the page that names no valid model is explained, and a picked folder loads", async ({
  page,
}) => {
  await page.goto("./?model=https://");
  await expect(page.getByRole("alert")).toContainText("In the address of this page (?model=https://), ");
  await page.locator("#pick-folder").setInputFiles(demo);
  await expectReady(page);
  await expect(page.locator("#chooser-name")).toHaveText("demo");
  expect(new URL(page.url()).search).toBe("");
  await expect(page.getByRole("button", { name: "Save as one file" })).toBeHidden();
  await generate(page);
  await page.reload();
  await expect(page.locator("#note-text")).toContainText("You wrote this text with demo from this device.");
  await page.locator("#pick-folder").setInputFiles(demo);
  await expect(page.locator("#note-text")).toBeEmpty();
});

test("a dropped folder with many other files loads, and so do dropped files", async ({ page }, testInfo) => {
  const models = testInfo.outputPath("models");
  cpSync(demo, resolve(models, "tale"), { recursive: true });
  // The folder has more entries than a browser reports at once, and files that are no model.
  for (let place = 0; place < 120; place += 1) writeFileSync(resolve(models, "tale", `a${place}.txt`), "x");
  mkdirSync(resolve(models, "notes"));
  writeFileSync(resolve(models, "notes", "a.txt"), "x");
  await open(page);
  await setText(page, "The sea was");
  await dropPaths(page, models);
  await expect(page.locator("#chooser-name")).toHaveText("tale");
  await expectReady(page);
  expect((await generate(page)).length).toBeGreaterThan("The sea was".length);
  const text = await textOf(page);
  const names = readdirSync(demo).sort();
  await dropPaths(page, ...names.map((name) => resolve(demo, name)));
  await expect(page.locator("#chooser-name")).toHaveText(names[0] ?? "");
  await expectReady(page);
  expect(await textOf(page)).toBe(text); // they were dropped on it
  await generate(page);
  const story = testInfo.outputPath("story.txt");
  writeFileSync(story, "The moon\r\n");
  await dropPaths(page, story);
  await expect.poll(() => textOf(page)).toBe("The moon\n");
});

test("files that are no model are explained; the running download continues, and the model writes", async ({
  page,
}, testInfo) => {
  const empty = testInfo.outputPath("empty");
  const gguf = testInfo.outputPath("tale.gguf");
  mkdirSync(empty, { recursive: true });
  writeFileSync(gguf, "a tale");
  const release = await hold(page, "**/models/demo/model.safetensors.*");
  const releaseChooser = await hold(page, "**/assets/chooser-*.js");
  await page.goto("./");
  await expect(page.locator("#loading-bytes")).toContainText(" of ");
  const alert = page.getByRole("alert");

  // They are dropped before the code of the chooser has arrived, and taken once it has.
  await dropPaths(page, resolve(demo, "vocab.json"));
  releaseChooser();
  await expect(alert).toContainText("there is no model among the files (vocab.json), expected config.json");
  await expect(page.getByRole("button", { name: "Try again" })).toBeHidden(); // trying again could not help
  for (const [path, sentence] of [
    [empty, "the list of the model's files is empty"],
    [gguf, "tale.gguf is not a GGUF file, despite its name"],
  ] as const) {
    await dropPaths(page, path);
    await expect(alert).toContainText(sentence);
  }
  await page.evaluate(() => {
    const file: FileSystemFileEntry["file"] = (_, failed) => failed?.(new DOMException("it has gone"));
    DataTransferItem.prototype.webkitGetAsEntry = () => ({ isFile: true, file }) as FileSystemFileEntry;
  });
  await dropPaths(page, gguf);
  await expect(alert).toContainText("it has gone");
  await page.locator("#pick-files").setInputFiles(gguf);
  await expect(alert).toContainText("tale.gguf is not a GGUF file");
  await expect(page.locator("#chooser-name")).toHaveText("demo");
  await expect(page.locator("#loading")).toBeVisible();
  release();
  await expectReady(page);
  await generate(page);
});
