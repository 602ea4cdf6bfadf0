// A host that never sends the service worker's script: the page loads without it, and Cancel works meanwhile.
import { expect, test } from "@playwright/test";
import { FaultyHost } from "./faulty-host.js";
import { expectReady } from "./page.js";

test.use({ serviceWorkers: "allow" });

test("the page waits for a service worker whose script never arrives; Cancel ends the wait, and the next one ends by itself", async ({
  page,
}) => {
  const host = new FaultyHost();
  await host.start();
  const asked = new Promise<void>((resolve) => host.answer(/^sw\.js$/, () => resolve()));
  const ofModel = () => [...host.asked, ...host.open].filter((name) => name.startsWith("models/demo/"));
  await page.clock.install();
  await page.goto(`${host.address}index.html`);
  await asked;
  await page.getByRole("button", { name: "Cancel" }).click();
  await expect(page.getByRole("alert")).toContainText("Loading was cancelled.");
  await page.getByRole("button", { name: "Try again" }).click();
  expect(ofModel()).toEqual([]);
  await page.clock.fastForward(10_000);
  await expectReady(page);
  await host.stop();
});
