// The page without network, after one visit, in the browsers that tests/e2e does not run in.
import { resolve } from "node:path";
import { expect, test } from "@playwright/test";
import { cases } from "./cases.js";
import { serve } from "./static-host.js";
import { until } from "./until.js";

const dist = resolve(import.meta.dirname, "../../web/dist");

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
