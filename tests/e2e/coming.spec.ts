// Another model loads while the current one writes.
import { expect, test, type Page } from "@playwright/test";
import type { StandInHub } from "../weights_tools/stand-in-hub.js";
import { violationsIn } from "./axe.js";
import { startDemoHub } from "./demo-hub.js";
import { expectFinished, expectReady, generate, open, press, setText, textOf } from "./page.js";

let hub: StandInHub;
/** The hub sends weights only after this resolves. */
let release: () => void;
test.beforeEach(async ({ page }) => {
  const released = new Promise<void>((resolve) => (release = resolve));
  hub = await startDemoHub(page, async (pathname) => {
    if (pathname.endsWith(".001")) await released;
  });
});
test.afterEach(() => hub.stop());

const loading = (page: Page) => page.locator("#loading");
const arrival = (page: Page) => page.locator("#arrival");

/** Looks `id` up, and lets it be downloaded. */
async function download(page: Page, id: string): Promise<void> {
  const chooser = page.locator("#chooser");
  if ((await chooser.getAttribute("open")) === null) await chooser.locator("summary").click();
  await page.getByLabel("From the Hugging Face hub").fill(id);
  await page.getByRole("button", { name: "Look up" }).click();
  await expect(page.locator("#hub-status")).toHaveText(
    /^user\/better: 8\.2 MB to download from huggingface\.co\. About [\d.]+ MB of memory\.$/,
  );
  await page.getByRole("button", { name: "Download" }).click();
  await expect(loading(page)).toContainText("user/better is loading; until then, demo writes");
}

test("you write with the demo model while another loads, and keep the text when it is ready", async ({
  page,
}) => {
  await open(page);
  await download(page, "user/better");
  const before = await generate(page); // with the demo
  expect(before.length).toBeGreaterThan("Once upon a time".length);
  await expect(page.locator("#chooser-name")).toHaveText("demo");
  expect(new URL(page.url()).search).toBe("");
  expect(await violationsIn(page)).toEqual([]);
  release();
  await expect(arrival(page)).toContainText("user/better is ready.");
  await expect(loading(page)).toBeHidden();
  await expect(page.locator("#chooser-name")).toHaveText("demo"); // the model changes only when the visitor switches
  expect(await violationsIn(page)).toEqual([]);
  await page.getByRole("button", { name: "Switch to it" }).click();
  await expect(page.locator("#chooser-name")).toHaveText("user/better");
  await expect(arrival(page)).toBeHidden();
  expect(await page.evaluate(() => document.activeElement?.id)).toBe("generate");
  expect(new URL(page.url()).search).toBe("?model=hf:user/better");
  expect(await textOf(page)).toBe(before);
  await press(page, "continue");
  await expectFinished(page);
  expect((await textOf(page)).startsWith(before)).toBe(true);
});

test("a reload during a model's load continues that load", async ({ page }) => {
  await open(page);
  await download(page, "user/better");
  await page.reload();
  await expect(page.locator("#chooser-name")).toHaveText("demo");
  await expect(loading(page)).toContainText("user/better is loading; until then, demo writes");
  release();
  await expect(page.locator("#chooser-name")).toHaveText("user/better");
  expect(new URL(page.url()).search).toBe("?model=hf:user/better");

  // A loaded model is not loaded again.
  const kept = () => page.evaluate(() => Object.keys(sessionStorage).filter((key) => key.includes("coming")));
  expect(await kept()).toEqual([]);
  await page.goto("./");
  await expectReady(page);
  await expect(page.locator("#chooser-name")).toHaveText("demo");
  await page.reload();
  await expectReady(page);
  await expect(page.locator("#chooser-name")).toHaveText("demo");
});

test("pressing a released size looks it up", async ({ page }) => {
  await open(page);
  await page.locator("#chooser summary").click();
  await page.getByRole("button", { name: "GPT-2 XL: 1.56 billion parameters" }).click();
  await expect(page.getByLabel("From the Hugging Face hub")).toHaveValue("openai-community/gpt2-xl");
  await expect(page.locator("#hub-status")).toContainText("openai-community/gpt2-xl: ");
  await expect(page.getByRole("button", { name: "Download" })).toBeVisible();
});

test("text in another language and a question to the model each show one note", async ({ page }) => {
  await open(page);
  const note = page.locator("#note");
  const status = note.getByRole("status");
  await expect(status).toBeEmpty(); // it exists, so that screen readers announce later text
  const text = page.getByRole("textbox", { name: "Text" });
  const type = async (typed: string) => {
    await setText(page, "");
    await text.focus();
    await page.keyboard.type(typed);
  };
  await type("There was a girl. She said: Das ist nicht gut. ");
  await expect(note).toBeHidden();
  for (const [typed, said, another] of [
    [
      "Es war einmal ein kleiner Junge, der in einem Haus lebte.",
      /^This model writes only English\./,
      " Und das ist nicht sehr gut für ihn.",
    ],
    ["Where does the sun sleep?", /./, "\nWhy is that so?"],
  ] as const) {
    await type(typed);
    await expect(status).toHaveText(said);
    expect(await violationsIn(page)).toEqual([]);
    await note.getByRole("button", { name: "OK" }).click();
    await expect(note).toBeHidden();
    await expect(text).toBeFocused();
    await page.keyboard.type(another);
    await expect.poll(() => textOf(page)).toContain(another);
    await expect(note).toBeHidden();
  }
  await page.reload();
  await expectReady(page);
  await type("What is it?");
  await expect.poll(() => textOf(page)).toBe("What is it?");
  await expect(note).toBeHidden();
});
