// A first visit over a slow line: the page shows a text that its model wrote earlier, and how long the download takes.
import { expect, test, type Page } from "@playwright/test";
import example from "../../web/page/parts/first-visit/example.json" with { type: "json" };
import { violationsIn } from "./axe.js";
import { CountingHost } from "./counting-host.js";
import { withModel } from "./model.js";
import { expectReady, generate, textOf } from "./page.js";

test.use({ storageState: { cookies: [], origins: [] } }); // the other tests are no first visits

const whole = example.prompt + example.text;
const figure = (page: Page) => page.locator("#example");
const status = (page: Page) => page.locator("#finish");

test("the example is what the demo model writes, bit for bit", async ({ page }) => {
  const anew = await withModel(
    page,
    { variant: "simd" },
    (model, { prompt, options }) => model.complete(prompt, options),
    { prompt: example.prompt, options: example.options },
  );
  expect(anew.text).toBe(example.text);
  expect(anew.finishReason).toBe("stop"); // a whole paragraph
});

test.describe("over a line of 400 kbit/s", () => {
  const host = new CountingHost();
  test.beforeAll(() => host.start());
  test.afterAll(() => host.stop());
  test.beforeEach(() => void (host.bytesPerSecond = 50_000));

  /** Opens the page, and waits for the example, which moves nothing, and for the time that is left. */
  async function visit(page: Page): Promise<void> {
    await page.goto(new URL("./", host.page).href);
    const line = page.locator("#editor .cm-line").first();
    await line.waitFor();
    const places = async () => [await line.boundingBox(), await page.locator("#generate").boundingBox()];
    const before = await places();
    await expect(figure(page)).toBeVisible();
    expect((await places()).map((place) => place?.y)).toEqual(before.map((place) => place?.y));
    await expect(page.locator("#loading-bytes")).toHaveText(
      /^[\d.]+ [kM]B of 8\.2 MB, about \d+ minutes left$/,
    );
  }

  test("a first visitor reads an example and the time left, and Write on answers at once", async ({
    page,
  }) => {
    await visit(page);
    await expect(figure(page).locator("figcaption")).toHaveText("Written earlier by this model");
    await expect(figure(page).locator("blockquote")).toHaveText(whole);
    const spoken = page.locator("#spoken div");
    await expect(spoken).toHaveText([/^The model is ready in about \d+ minutes\./]);
    expect(await violationsIn(page)).toEqual([]);
    await page.getByRole("button", { name: "Write on" }).click();
    await expect(page.locator("#generate")).toHaveText("Stop");
    await expect(status(page)).toHaveText(
      /^Writing begins as soon as the model is loaded, in about \d+ minutes\.$/,
    );
    await expect(spoken).toHaveCount(2); // each is announced once
    await expect(figure(page)).toBeVisible();
    host.bytesPerSecond = Infinity;
    await expect(status(page)).toContainText("Finished");
    await expect(figure(page)).toBeHidden();
    await expect(spoken.filter({ hasText: "ready in about" })).toHaveCount(1);
  });

  test("what the visitor types meanwhile stays theirs; the example leaves when the model is ready", async ({
    page,
  }) => {
    await visit(page);
    await page.getByRole("textbox", { name: "Text" }).focus();
    await page.keyboard.press("End");
    await page.keyboard.type(" I typed this.");
    await expect.poll(() => textOf(page)).toBe("Once upon a time I typed this.");
    await expect(figure(page)).toBeVisible();
    host.bytesPerSecond = Infinity;
    await expectReady(page);
    await expect(figure(page)).toBeHidden();
    expect(await textOf(page)).toBe("Once upon a time I typed this.");
    expect((await generate(page)).startsWith("Once upon a time I typed this.")).toBe(true);
    expect(await textOf(page)).not.toContain(example.text);
  });

  test("the visitor can go on with the example; Undo brings their own text back", async ({ page }) => {
    await visit(page);
    await page.getByRole("button", { name: "Go on with this text" }).click();
    await expect.poll(() => textOf(page)).toBe(whole);
    await expect(figure(page)).toBeHidden();
    await expect(page.locator("#editor .models")).toHaveText(example.text); // the prompt is not marked as the model's
    await expect(status(page)).toContainText("as soon as the model is loaded");
    await page.locator("#generate").click(); // stops
    await expect(status(page)).toContainText("Stopped, 0 tokens.");
    await page.locator("#undo").click();
    await expect.poll(() => textOf(page)).toBe("Once upon a time");
    await expect(figure(page)).toBeHidden();
  });
});

const returns = () => localStorage.setItem("gpt2-had-model /", "1");
for (const [who, query, before] of [
  ["a returning visitor", "", returns],
  ["a visitor with a link to a text", "#text=none", undefined],
  ["a visitor of another model than the page's own", "?model=models/other/", undefined],
] as const) {
  test(`${who} sees no example, however long the model takes`, async ({ page }) => {
    await page.clock.install();
    if (before) await page.addInitScript(before);
    await page.route("**/models/**", () => undefined); // never answered
    await page.goto(`./${query}`);
    await expect(page.locator("#loading")).toBeVisible();
    await expect(page.locator("#editor .cm-content")).toBeVisible();
    await page.clock.fastForward(10_000); // beyond the page's patience
    await expect(figure(page)).toHaveCount(0);
  });
}
