// The documentation site below a sub-path, in Chromium: links, live examples, accessibility, search, and reading without
// scripts.
import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, test, type Page } from "@playwright/test";
import { violationsIn } from "../e2e/axe.js";

const base = "/docs/";
const site = resolve(import.meta.dirname, "../../build/docs");
const files = new Set(readdirSync(site, { recursive: true, encoding: "utf8" }));
/** Paths of its pages, below its base. */
const pages = [...files].filter((path) => path.endsWith(".html") && path !== "404.html");
const html = (path: string) => readFileSync(join(site, path), "utf8");
/** The pages with live examples. */
const livePages = pages.filter((page) => html(page).includes("data-live="));

test("every internal link leads to a page, and to a heading on it", () => {
  const idsOf = new Map(
    pages.map((page) => [page, new Set([...html(page).matchAll(/ id="([^"]+)"/g)].map(([, id]) => id))]),
  );
  const broken: string[] = [];
  let checked = 0;
  for (const page of pages) {
    for (const [, href = ""] of html(page).matchAll(/ (?:href|src)="([^"]+)"/g)) {
      const url = new URL(href.replaceAll("&amp;", "&"), `http://site${base}${page}`);
      if (url.host !== "site") continue;
      checked++;
      const path = decodeURIComponent(url.pathname.slice(base.length)) || "index.html";
      const isThere = url.pathname.startsWith(base) && files.has(path);
      const hash = decodeURIComponent(url.hash.slice(1));
      if (!isThere || (hash && path.endsWith(".html") && !idsOf.get(path)?.has(hash)))
        broken.push(`${page}: ${href}`);
    }
  }
  expect(checked).toBeGreaterThan(pages.length * 10);
  expect(broken).toEqual([]);
});

/** Addresses of other hosts that a page requests while `use` runs. */
async function otherHostsDuring(page: Page, use: () => Promise<void>): Promise<string[]> {
  const own = new URL(test.info().project.use.baseURL ?? "").host;
  const others: string[] = [];
  page.on("request", (request) => {
    const { protocol, host } = new URL(request.url());
    if (/^(http|ws)/.test(protocol) && host !== own) others.push(request.url());
  });
  await use();
  return others;
}

for (const path of livePages) {
  test(`the live examples of ${path} run and contact no other host`, async ({ page }) => {
    const errors: string[] = [];
    page.on("pageerror", (error) => errors.push(String(error)));
    const others = await otherHostsDuring(page, async () => {
      await page.goto(path);
      const examples = await page.locator("[data-live]").all();
      expect(examples.length).toBeGreaterThan(0);
      for (const example of examples) {
        if ((await example.getAttribute("data-live")) === "js") {
          await example.getByRole("button", { name: "Run" }).click();
          await expect(example).toHaveAttribute("data-state", "done");
          await expect(example.locator("output")).not.toBeEmpty();
          const result = example.locator("xpath=following-sibling::*[1][self::details]").locator("code");
          if ((await result.count()) > 0)
            await expect(example.locator("output")).toHaveText((await result.textContent()) ?? "");
          continue;
        }
        const writer = example.locator("gpt2-writer");
        if ((await writer.count()) > 0) {
          const text = writer.locator("textarea");
          const before = await text.inputValue();
          await writer.getByRole("button").click();
          await expect.poll(async () => (await text.inputValue()).length).toBeGreaterThan(before.length + 20);
        } else {
          await example.locator("textarea").pressSequentially("Once upon a time, there was a little");
          const suggestion = example.locator("gpt2-autocomplete [part=ghost]");
          await expect(suggestion).not.toBeEmpty();
        }
      }
    });
    expect(errors).toEqual([]);
    expect(others).toEqual([]);
  });
}

for (const colorScheme of ["light", "dark"] as const) {
  test(`axe-core finds no problem in ${colorScheme}`, async ({ page }) => {
    await page.emulateMedia({ colorScheme });
    for (const path of [
      "learn/first-page.html",
      "learn/lesson-8-causes.html",
      "understand/architecture.html",
    ]) {
      await page.goto(path);
      await expect(page.locator("main h1")).toBeVisible();
      expect(await violationsIn(page), path).toEqual([]);
    }
  });
}

test("search finds a page without a network", async ({ page, context }) => {
  const others = await otherHostsDuring(page, async () => {
    await page.goto("index.html");
    await page.getByRole("button", { name: "Search" }).click();
    const field = page.getByRole("searchbox");
    await field.fill("thread");
    await expect(page.locator("#localsearch-list")).toContainText("Threads"); // the search index has loaded
    await context.setOffline(true);
    await field.fill("bfloat16");
    await expect(page.locator("#localsearch-list")).toContainText("Kernels", { ignoreCase: true });
  });
  expect(others).toEqual([]);
});

test("a page on a phone is as wide as the phone", async ({ page }) => {
  await page.setViewportSize({ width: 360, height: 740 });
  for (const path of pages.filter((each) => !each.includes("generated/api"))) {
    await page.goto(path);
    const width = await page.evaluate(() => document.documentElement.scrollWidth);
    expect(width, path).toBeLessThanOrEqual(360);
  }
});

test.describe("without scripts", () => {
  test.use({ javaScriptEnabled: false });

  test("text, code and links are readable without scripts", async ({ page }) => {
    await page.goto("learn/first-page.html");
    await expect(page.getByRole("heading", { level: 1 })).toHaveText(/Write your first page/);
    await expect(page.locator("main")).toContainText('import { loadModel } from "gpt2-wasm";');
    const link = page.locator("main").getByRole("link", { name: "Set up your host" });
    await link.first().click();
    await expect(page).toHaveURL(/how-to\/hosts\.html$/);
    await expect(page.locator("main")).toContainText("Cross-Origin-Opener-Policy");
  });
});
