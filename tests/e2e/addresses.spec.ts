// A link to a model on this host. random-links.spec.ts follows links to other hosts, tests/web/page/chosen-model.test.ts names them.
import { expect, test, type Page } from "@playwright/test";
import { TwoHosts } from "../web/support/two-hosts.js";
import { expectReady, serveDemoAs } from "./page.js";

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

test("a link to this host that redirects to another host is refused", async ({ page }) => {
  const hosts = await new TwoHosts().start();
  await page.route("**/out/**", (route) =>
    route.fulfill({ status: 302, headers: { Location: `${hosts.other}/m/` } }),
  );
  for (const model of ["out/", "out/x.gguf?to=evil"]) {
    await page.goto(`./?model=${encodeURIComponent(model)}`);
    await expect(page.getByRole("alert")).toContainText("the host redirects");
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
