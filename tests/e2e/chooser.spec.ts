// The page with other models than its own: of the hub, and of files that are picked or dropped.
import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { expect, test, type Page, type Route } from "@playwright/test";
import type { StandInHub } from "../weights_tools/stand-in-hub.js";
import { violationsIn } from "./axe.js";
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
  const box = await page.locator("#editor .cm-line").first().boundingBox();
  const at = { x: (box?.x ?? 0) + 20, y: (box?.y ?? 0) + 10 };
  for (const type of ["dragEnter", "dragOver", "drop"] as const)
    await session.send("Input.dispatchDragEvent", { type, ...at, data });
  await session.detach();
}

test("a model of the Hub shows its size first, then writes, and a reload loads it again", async ({
  page,
}) => {
  await open(page);
  const before = await generate(page);
  await lookUp(page, "user/tale");
  await expect(status(page)).toContainText("user/tale: 13 MB to download from huggingface.co. About ", {
    timeout: 30_000,
  });
  expect(asked).toEqual(["/api/models/user/tale/revision/main"]);
  await page.getByRole("button", { name: "Download" }).click();
  await expect(page.locator("#chooser-name")).toHaveText("user/tale", { timeout: 30_000 });
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

test("the models of the site appear once the list is read, and choosing one keeps the text", async ({
  page,
}) => {
  const other = { folder: "another", name: "Another", parameters: 124_439_808, bytes: 131_900_000 };
  await serveDemoAs(page, other.folder);
  const list = [other, { ...other, folder: "../elsewhere" }, null];
  let isBroken = true;
  await page.route("**/models/index.json", (route) =>
    route.fulfill(isBroken ? { status: 503 } : { json: list }),
  );
  await open(page);
  await setText(page, "The sea was");
  const answered = page.waitForResponse("**/models/index.json");
  await chooser(page).locator("summary").click();
  await answered;
  isBroken = false;
  await chooser(page).locator("summary").click();
  await chooser(page).locator("summary").click();
  const offered = page.locator("#site-models-list button");
  await expect(offered).toHaveText(
    [
      /^Another: 124 million parameters, 132 MB\. About 210 MB of memory\. On this device about [\d,.]+ tokens\/s\.$/,
    ],
    { timeout: 30_000 },
  );
  await offered.click();
  await expect(page.locator("#chooser-name")).toHaveText("Another", { timeout: 30_000 });
  await expectReady(page);
  expect(await textOf(page)).toBe("The sea was");
  expect(new URL(page.url()).search).toBe("?model=models/another/");
});

test("the text of each model keeps its language after another model writes and after a reload", async ({
  page,
}) => {
  await serveDemoAs(page, "another");
  const other = { folder: "another", name: "Another", parameters: 12_318_720, bytes: 13_373_469 };
  await page.route("**/models/index.json", (route) => route.fulfill({ json: [other] }));
  await open(page);
  await setText(page, "The sea was");
  await setOption(page, "Tokens", "8");
  await generate(page);
  /** The distinct languages of the parts that models wrote. Text of several lines has several parts. */
  const languages = () =>
    page
      .locator("#editor .models")
      .evaluateAll((parts) => [...new Set(parts.map((part) => part.getAttribute("lang")))]);
  expect(await languages()).toEqual(["en"]);
  await chooser(page).locator("summary").click();
  await page.locator("#site-models-list button").click();
  await expect(page.locator("#chooser-name")).toHaveText("Another", { timeout: 30_000 });
  await expectReady(page);
  expect(await languages()).toEqual(["en"]);
  await press(page, "continue");
  await expectFinished(page);
  expect(await languages()).toEqual(["en", null]); // the language of that model is unknown
  await page.reload();
  await expectReady(page);
  expect(await languages()).toEqual(["en", null]);
});

test("choosing the current model does not load it again", async ({ page }) => {
  const same = { folder: "demo", name: "The same", parameters: 12_318_720, bytes: 13_373_469 };
  await page.route("**/models/index.json", (route) => route.fulfill({ json: [same] }));
  await open(page);
  await chooser(page).locator("summary").click();
  const fetched: string[] = [];
  page.on("request", (request) => fetched.push(request.url()));
  await page.locator("#site-models-list button").click();
  await expect(chooser(page)).not.toHaveAttribute("open");
  await generate(page);
  expect(fetched.filter((url) => url.includes("/models/demo/"))).toEqual([]);
  await expect(page.locator("#chooser-name")).toHaveText("demo");
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
  const answers: [sentence: string, (route: Route) => Promise<void>][] = [
    ["does not state the download size of user/tale.", (route) => route.fulfill({ body: "<!doctype html>" })],
    ["answered with the error 429: try again later.", (route) => route.fulfill({ status: 429 })],
    ["answered with the error 503: try again later.", (route) => route.fulfill({ status: 503 })],
    ["cannot be reached: check your connection, or try again later.", (route) => route.abort()],
  ];
  for (const [sentence, answer] of answers) {
    await page.route("https://huggingface.co/api/**", answer);
    await lookUp(page, "user/tale");
    await expect(status(page)).toHaveText(`huggingface.co ${sentence}`);
    await expect(page.getByRole("button", { name: "Download" })).toBeVisible();
    expect(asked).toEqual([]);
    await page.unroute("https://huggingface.co/api/**");
    await page.getByLabel("From the Hugging Face hub").fill("");
  }
  const elsewhere: string[] = [];
  await page.route("https://models.example/**", (route) => {
    elsewhere.push(route.request().url());
    return route.abort();
  });
  await page.getByLabel("From the Hugging Face hub").fill("https://other.example/tale/");
  await page.getByRole("button", { name: "Look up" }).click();
  await expect(status(page)).toHaveText(
    "The model could not be loaded: this page may not contact other.example: " +
      "connect-src in its Content-Security-Policy does not list that host.",
  );
  await page.getByLabel("From the Hugging Face hub").fill("https://models.example/tale/");
  await page.getByRole("button", { name: "Look up" }).dblclick();
  await expect(status(page)).toHaveText("models.example does not state the download size of tale.");
  expect(elsewhere).toEqual([]);
  await page.getByRole("button", { name: "Download" }).click();
  await expect.poll(() => elsewhere).toContain("https://models.example/tale/config.json");
});

test("a site without a list of models offers none", async ({ page }) => {
  await page.route("**/models/index.json", (route) => route.fulfill({ status: 404 }));
  await page.goto("./");
  const answered = page.waitForResponse("**/models/index.json");
  await chooser(page).locator("summary").click();
  await answered;
  await expect(page.getByRole("button", { name: "Look up" })).toBeVisible();
  await expect(page.locator("#site-models")).toBeHidden();
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

test("a choice that the Hub has no model for is explained, and the next choice works", async ({ page }) => {
  await open(page);
  hub.status = 401;
  hub.errorCode = "RepoNotFound";
  await lookUp(page, "user/none");
  await expect(status(page)).toHaveText("huggingface.co has no public model user/none: check the name.");
  expect(asked).toEqual(["/api/models/user/none/revision/main"]);
  await expect(page.getByRole("button", { name: "Look up" })).toBeVisible();
  hub.status = 200;
  await lookUp(page, "user/tale");
  await page.getByRole("button", { name: "Download" }).click();
  await expect(page.getByRole("alert")).toBeHidden();
  await expectReady(page);
});

test("a picked folder loads, and so does a dropped one", async ({ page }) => {
  await open(page);
  await page.locator("#pick-folder").setInputFiles(demo);
  await expect(page.locator("#chooser-name")).toHaveText("demo");
  await expectReady(page);
  expect(new URL(page.url()).search).toBe("");
  await expect(page.getByRole("button", { name: "Save as one file" })).toBeHidden();
  const text = await generate(page);
  // Drops files that are no model.
  const drop = async (names: string[]) => {
    const files = names.map((name) => ({ name, bytes: [...readFileSync(resolve(demo, name))] }));
    const data = await page.evaluateHandle((list) => {
      const transfer = new DataTransfer();
      for (const { name, bytes } of list) transfer.items.add(new File([Uint8Array.from(bytes)], name));
      return transfer;
    }, files);
    await page.dispatchEvent("body", "dragover", { dataTransfer: data });
    await expect(page.locator("body")).toHaveClass("dropping");
    await page.dispatchEvent("body", "drop", { dataTransfer: data });
    await expect(page.locator("body")).not.toHaveClass("dropping");
  };
  await drop(["vocab.json", "merges.txt"]);
  await expect(page.getByRole("alert")).toContainText(
    "there is no model among the files (vocab.json, merges.txt), expected config.json",
  );
  await expect(page.getByRole("button", { name: "Try again" })).toBeHidden(); // trying again could not help
  expect(await textOf(page)).toBe(text);
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
  await expect(page.locator("#chooser-name")).toHaveText("tale", { timeout: 30_000 });
  await expectReady(page);
  expect((await generate(page)).length).toBeGreaterThan("The sea was".length);
  const text = await textOf(page);
  const names = readdirSync(demo).sort();
  await dropPaths(page, ...names.map((name) => resolve(demo, name)));
  await expect(page.locator("#chooser-name")).toHaveText(names[0] ?? "", { timeout: 30_000 });
  await expectReady(page);
  expect(await textOf(page)).toBe(text); // they were dropped on it
  await generate(page);
});

test("a drop that is no model or cannot be read is explained, and the current model keeps working", async ({
  page,
}, testInfo) => {
  const notes = testInfo.outputPath("notes");
  const empty = testInfo.outputPath("empty");
  const two = testInfo.outputPath("two");
  for (const folder of [notes, empty]) mkdirSync(folder, { recursive: true });
  writeFileSync(resolve(notes, "a.txt"), "x");
  for (const name of ["one", "other"]) cpSync(demo, resolve(two, name), { recursive: true });
  await open(page);
  const alert = page.getByRole("alert");
  for (const [path, sentence] of [
    [notes, "there is no model among the files (a.txt), expected config.json and its weights, or a .gguf"],
    [empty, "the list of the model's files is empty"],
    [resolve(notes, "a.txt"), "there is no model among the files (a.txt)"],
    [two, "these are 2 models (one, other), but only one can be loaded: drop one of them"],
  ] as const) {
    await dropPaths(page, path);
    await expect(alert).toContainText(sentence);
  }
  await page.evaluate(() => {
    const file: FileSystemFileEntry["file"] = (_, failed) => failed?.(new DOMException("it has gone"));
    DataTransferItem.prototype.webkitGetAsEntry = () => ({ isFile: true, file }) as FileSystemFileEntry;
  });
  await dropPaths(page, resolve(notes, "a.txt"));
  await expect(alert).toContainText("The model could not be loaded: it has gone.");
  await expect(page.locator("#chooser-name")).toHaveText("demo");
  await generate(page);
});

test("files that are no model are explained, and the running download continues", async ({
  page,
}, testInfo) => {
  const release = await hold(page, "**/models/demo/model.safetensors.*");
  await page.goto("./");
  await expect(page.locator("#loading-bytes")).toContainText(" of ", { timeout: 30_000 });
  const alert = page.getByRole("alert");
  await dropPaths(page, resolve(demo, "vocab.json"));
  await expect(alert).toContainText("there is no model among the files (vocab.json)");
  const tale = testInfo.outputPath("tale.gguf");
  writeFileSync(tale, "a tale");
  await page.locator("#pick-files").setInputFiles(tale);
  await expect(alert).toContainText("tale.gguf is not a GGUF file, despite its name");
  await expect(page.locator("#chooser-name")).toHaveText("demo");
  await expect(page.locator("#loading")).toBeVisible();
  release();
  await expectReady(page);
  await generate(page);
});

test("files that are dropped before the chooser is loaded are taken once it is", async ({ page }) => {
  const release = await hold(page, "**/assets/chooser-*.js");
  await page.goto("./");
  await expect(page.locator("#generate")).toBeEnabled();
  await dropPaths(page, resolve(demo, "vocab.json"));
  release();
  await expect(page.getByRole("alert")).toContainText("there is no model among the files (vocab.json)");
});

test("a name that is neither an id nor an address is refused beside the field; the next one loads", async ({
  page,
}) => {
  await open(page);
  const field = page.getByLabel("From the Hugging Face hub");
  for (const text of ["", "my model", "https://", "http://[", "ftp://models.example/tale/", "user/"]) {
    await lookUp(page, text);
    await expect(status(page), text).toHaveText(/^Expected the id of a model, such as/);
    await expect(field, text).toHaveAttribute("aria-invalid", "true");
    await expect(field, text).toBeFocused();
    await expect(field, text).toHaveAccessibleDescription(/^Expected the id of a model/);
  }
  expect(asked).toEqual([]);
  expect(await violationsIn(page)).toEqual([]);
  await lookUp(page, "user/tale");
  await expect(status(page)).toContainText("user/tale: 13 MB to download", { timeout: 30_000 });
  await expect(field).not.toHaveAttribute("aria-invalid");
});

test("an address of the page that names no valid model is explained, and another can be chosen", async ({
  page,
}) => {
  await page.goto("./?model=https://");
  await expect(page.getByRole("alert")).toContainText("In the address of this page (?model=https://), ");
  await page.locator("#pick-folder").setInputFiles(demo);
  await expectReady(page);
  await generate(page);
});

for (const colorScheme of ["light", "dark"] as const) {
  test(`axe finds no problem in ${colorScheme}, and nothing overflows a narrow page`, async ({ page }) => {
    await page.emulateMedia({ colorScheme });
    await page.setViewportSize({ width: 320, height: 800 });
    await open(page);
    await lookUp(page, "user/tale");
    await expect(page.getByRole("button", { name: "Download" })).toBeVisible();
    expect(await violationsIn(page)).toEqual([]);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(320);
  });
}

test("the page in one file offers no other model", async ({ page }) => {
  await page.goto("./one-file.html");
  await expect(page.locator("#chooser")).toBeHidden();
});
