// A link by itself never makes the page contact another host, however its address is written.
import { expect, test, type Page } from "@playwright/test";
import { TwoHosts } from "../web/support/two-hosts.js";
import { expectReady, serveDemoAs, writeOn } from "./page.js";

/** Blocks and records every request to another origin. */
async function trapForeign(page: Page): Promise<string[]> {
  const foreign: string[] = [];
  const own = new URL(test.info().project.use.baseURL ?? "").origin;
  await page.route(
    (url) => url.origin !== own,
    (route) => {
      foreign.push(route.request().url());
      return route.abort();
    },
  );
  return foreign;
}

/** The page's message about the model in its address. */
async function messageOf(page: Page, model: string): Promise<string> {
  await page.goto(`./?model=${encodeURIComponent(model)}`);
  const said = page.locator("#error-text, #hub-status").filter({ hasText: /./, visible: true });
  await expect(said, model).toHaveCount(1, { timeout: 20_000 });
  await writeOn(page);
  return (await said.textContent()) ?? "";
}

const asks = "That host is contacted only if you look it up";
const spellings: Record<string, readonly string[]> = {
  [`which is on huggingface.co. ${asks}`]: [
    "hf:user/tale",
    "https://huggingface.co/m/",
    " https://huggingface.co/m/",
    "\u0000https://huggingface.co/m/",
    "h\nttps://huggingface.co/m/",
    "https:\\\\huggingface.co\\m",
    "https:huggingface.co/x.gguf",
  ],
  [`which is on cdn.hf.co. ${asks}`]: ["\thttps://cdn%2Ehf.co/m/", "https://CDN\uff0ehf.co/m/"],
  "this page may not contact evil.example: connect-src in its Content-Security-Policy does not list": [
    "//evil.example/m/",
    "/\\evil.example/m/",
    "\\\\evil.example/m/",
    "\\/evil.example/m.gguf",
    " //evil.example/m/",
    "https://evil.example/m/",
  ],
  "expected the address of a model, which starts with https://": [
    "https://huggingface.co@evil.example/m/",
    "ftp://evil.example/m/",
    "javascript:fetch('https://evil.example')",
    "data:,m/",
  ],
  'contains ":"': ["hf:openai-community/gpt2/https://evil.example/gpt2.gguf"],
};

for (const [sentence, list] of Object.entries(spellings)) {
  test(`an address in a link leads only to this host, or is refused: "${sentence}"`, async ({ page }) => {
    const foreign = await trapForeign(page);
    for (const model of list) expect(await messageOf(page, model), JSON.stringify(model)).toContain(sentence);
    await page.waitForLoadState("networkidle");
    expect(foreign).toEqual([]);
  });
}

test("a link to this host that redirects to another host is refused", async ({ page }) => {
  const hosts = await new TwoHosts().start();
  await page.route("**/out/**", (route) =>
    route.fulfill({ status: 302, headers: { Location: `${hosts.other}/m/` } }),
  );
  for (const model of ["out/", "out/x.gguf?to=evil"]) {
    await page.goto(`./?model=${encodeURIComponent(model)}`);
    await expect(page.getByRole("alert")).toContainText("the host redirects", { timeout: 20_000 });
  }
  expect(hosts.asked).toEqual([]);
  hosts.stop();
});

test("any spelling of the address of a model on this host loads it", async ({ page, baseURL }) => {
  const foreign = await trapForeign(page);
  await serveDemoAs(page, "another");
  for (const model of [`${baseURL ?? ""}models/another`, "./models/./../models/another/?x#y"]) {
    await page.goto(`./?model=${encodeURIComponent(model)}`);
    await expectReady(page);
    await expect(page.locator("#chooser-name")).toHaveText("another");
  }
  expect(foreign).toEqual([]);
});
