// A host that never sends the service worker's script: the page loads without it, and Cancel works meanwhile.
import { expect, test } from "@playwright/test";
import { FaultyHost } from "./faulty-host.js";
import { expectReady } from "./page.js";

test.use({ serviceWorkers: "allow" });

let host: FaultyHost;
let asked: Promise<void>;
const files: string[] = [];
test.beforeEach(async ({ page }) => {
  host = new FaultyHost();
  await host.start();
  files.length = 0;
  asked = new Promise((resolve) => {
    host.fault = (name) => {
      files.push(name);
      if (name === "sw.js") resolve();
      return name === "sw.js";
    };
  });
  await page.clock.install();
  await page.goto(new URL("/index.html", host.page).href);
  await asked;
});
test.afterEach(() => host.stop());

test("the page waits for a service worker whose script never arrives, and then loads the model without it", async ({
  page,
}) => {
  expect(files.filter((name) => name.includes("models/demo/"))).toEqual([]);
  await page.clock.fastForward(10_000);
  await expectReady(page);
});

test("Cancel ends the wait for the service worker at once, and the next attempt loads the model", async ({
  page,
}) => {
  await page.getByRole("button", { name: "Cancel" }).click();
  await expect(page.getByRole("alert")).toContainText("Loading was cancelled.");
  expect(files.filter((name) => name.includes("models/demo/"))).toEqual([]);
  await page.getByRole("button", { name: "Try again" }).click();
  await page.clock.fastForward(10_000);
  await expectReady(page);
});
