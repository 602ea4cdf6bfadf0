// The page without network, after one visit, in the browsers that tests/e2e does not run in.
import { resolve } from "node:path";
import { expect, test } from "@playwright/test";
import { within, type Browser } from "./browser.js";
import { cases } from "./cases.js";
import { serve } from "./static-host.js";

const dist = resolve(import.meta.dirname, "../../web/dist");
const patienceMs = 60_000;

/** Waits until a condition holds in a page that may be reloaded meanwhile. */
async function until(browser: Browser, condition: string): Promise<void> {
  const start = performance.now();
  while (performance.now() - start < patienceMs) {
    const answer = browser.evaluate(`Promise.resolve(String(${condition}))`).catch(() => "reloaded");
    if ((await within(patienceMs, condition, answer)) === "true") return;
    await new Promise((later) => setTimeout(later, 100));
  }
  const text = await browser.evaluate("Promise.resolve(document.body.innerText)").catch(String);
  throw new Error(`never: ${condition} in a page that says: ${text}`);
}

for (const { name, launch } of cases.filter((each) => ["Firefox", "WebKitGTK"].includes(each.name))) {
  test(`${name} opens the page again when its host has gone`, async () => {
    const browser = await launch();
    const host = await serve(false, { "/": dist });
    let isOpen = true;
    try {
      // One thread: driven as it is here, Firefox at times hangs while a worker starts another.
      await browser.open(`${host.origin}/index.html?variant=simd`);
      await until(browser, `document.getElementById("offline").checkVisibility()`);
      await host.close();
      isOpen = false;
      await expect(fetch(host.origin)).rejects.toThrow();
      await browser.open(`${host.origin}/?variant=simd`);
      await until(browser, `document.getElementById("engine").textContent.includes("1 thread")`);
    } finally {
      if (isOpen) await host.close();
      await browser.close();
    }
  });
}
