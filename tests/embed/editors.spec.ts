// examples/editors: suggestions in editors that are not text controls, through the adapters in that folder.
import { join } from "node:path";
import { expect, test } from "@playwright/test";
import { serve, type StaticHost } from "../browsers/static-host.js";
import { makeApp, root, run } from "./app.js";

test.describe.configure({ timeout: 600_000 }); // the editors are installed first

let host: StaticHost;
test.beforeAll(async () => {
  const folder = makeApp("editors", true);
  run(folder, "npm", "run", "build");
  host = await serve(false, { "/models/": join(root, "web/models"), "/": join(folder, "dist") });
});
test.afterAll(() => host.close());

for (const [place, [id, selector]] of [
  ["contenteditable", "#contenteditable"],
  ["codemirror", ".cm-content"],
  ["prosemirror", ".ProseMirror"],
].entries()) {
  test(`suggestions in ${id} are drawn at the caret, taken by Tab, and undone separately`, async ({
    page,
  }) => {
    page.setDefaultTimeout(60_000);
    await page.goto(host.origin);
    const editor = page.locator(selector ?? "");
    const element = page.locator("gpt2-autocomplete").nth(place);
    const textBefore = () =>
      element.evaluate(({ field }: Element & { field?: { textBefore(): string | undefined } }) =>
        field?.textBefore(),
      );
    const typed = "One day, a little girl named";
    await editor.click();
    await page.keyboard.type(typed);
    const ghost = element.locator(".ghost");
    await expect(ghost).toHaveText(/\w/, { timeout: 45_000 });
    const suggested = (await ghost.textContent()) ?? "";
    const [caret, box] = await Promise.all([
      page.evaluate(() => getSelection()?.getRangeAt(0).getBoundingClientRect().toJSON() as DOMRect),
      ghost.boundingBox(),
    ]);
    expect(Math.abs((box?.y ?? 0) - caret.y)).toBeLessThan(4);
    await page.keyboard.press("Tab");
    await expect(editor).toContainText(typed + suggested);
    await expect(editor).toBeFocused();
    await page.keyboard.press("Control+z");
    await expect(editor).not.toContainText(suggested.trim());
    await expect(editor).toContainText(typed);
    expect(await textBefore()).toContain(typed);
    // Text after the caret ends the suggestions.
    await page.keyboard.press("Home");
    await page.keyboard.type("x");
    expect(await textBefore()).toBeUndefined();
    await expect(ghost).toHaveText("");
  });
}
