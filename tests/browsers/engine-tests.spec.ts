// The engine's own tests: in Chromium all of them in each build that a page chooses from, elsewhere those
// of the kernels. Node.js runs only `simd`: the others are made for workers of a page, and its relaxed
// SIMD is wrong.
import { test } from "@playwright/test";
import type { Browser } from "./browser.js";
import { cases } from "./cases.js";
import { expectTestsToPass, serveEngineTests } from "./engine-tests.js";
import type { StaticHost } from "./static-host.js";

let host: StaticHost;
test.beforeAll(async () => void (host = await serveEngineTests()));
test.afterAll(() => host.close());

for (const { name, launch, engineTests } of cases) {
  test.describe(name, () => {
    let browser: Browser;
    test.beforeAll(async () => void (browser = await launch()));
    test.afterAll(() => browser.close());

    for (const variant of engineTests.variants) {
      test(`engine_tests pass as ${variant}`, () =>
        expectTestsToPass(browser, host, variant, engineTests.filter));
    }
  });
}
