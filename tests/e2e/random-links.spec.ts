// Links with random queries and fragments: the page contacts no other host before its reader agrees, and no script of it
// fails. `SECONDS=600 SEED=7` opens links for ten minutes, drawn by 7.
import { once } from "node:events";
import { createServer, type AddressInfo } from "node:net";
import { chromium, expect, test } from "@playwright/test";
import * as fc from "fast-check";
import { hangLimits } from "../support/hang-limits.js";
import { linkedAddress, linkedText } from "./links.js";

const seconds = Number(process.env.SECONDS ?? 10);
const seed = Number(process.env.SEED ?? 1);
/** The longest fragment that an address may have, in UTF-16 code units. */
const mostUnits = 500_000;

const link = fc.record({
  model: linkedAddress,
  text: fc.option(linkedText.filter(({ length }) => length < mostUnits)),
  others: fc.constantFrom("", "&weights=q4", "&weights=x", "&model=hf:a/b", "&threads=0", "&variant=x"),
});

test("no random link makes the page contact another host or fail", async ({ baseURL, launchOptions }) => {
  const address = baseURL ?? "";
  test.setTimeout(hangLimits.timeout + seconds * 1000);
  let connections = 0;
  // Takes every connection that is not to this page's host, and ends it.
  const trap = createServer((socket) => {
    connections += 1;
    socket.destroy();
  });
  await once(trap.listen(0, "127.0.0.1"), "listening");
  const { port } = trap.address() as AddressInfo;
  const browser = await chromium.launch({
    ...launchOptions,
    args: [...(launchOptions.args ?? []), `--host-resolver-rules=MAP * 127.0.0.1:${port}, EXCLUDE localhost`],
  });
  const page = await browser.newPage({ serviceWorkers: "block" });
  const problems: string[] = [];
  page.on("pageerror", (error) => problems.push(String(error.stack)));
  page.on("dialog", (dialog) => problems.push(`a dialog: ${dialog.message()}`));
  page.on("request", (request) => {
    if (!request.url().startsWith(address) && !/^(blob|data):/.test(request.url()))
      problems.push(`asked ${request.url()}`);
  });
  try {
    // Checks that the trap works.
    await page.goto(address);
    await page.evaluate(() => fetch("https://other.example/").catch(() => undefined));
    expect(connections).toBeGreaterThan(0);
    problems.splice(0);
    connections = 0;

    let opened = 0;
    const opening = fc.asyncProperty(link, async ({ model, text, others }) => {
      const query = new URLSearchParams({ model }).toString() + others;
      // Starts from another page, because a new fragment alone loads nothing.
      await page.goto("about:blank");
      await page.goto(`${address}?${query}${text === null ? "" : `#text=${text}`}`);
      const said = page.locator("#error-text, #hub-status, #finish").filter({ hasText: /./, visible: true });
      await expect(said.first()).toBeVisible();
      await page.locator("#generate").click();
      opened += 1;
      expect([connections, ...problems]).toEqual([0]);
    });
    const result = await fc.check(opening, {
      seed,
      numRuns: Number.MAX_SAFE_INTEGER,
      interruptAfterTimeLimit: seconds * 1000,
      markInterruptAsFailure: false,
      endOnFailure: true,
    });
    console.log(`seed ${seed}: ${opened} links opened`);
    const { errorInstance } = result as { errorInstance?: unknown };
    expect(result.failed, `${fc.defaultReportMessage(result) ?? ""}\n${String(errorInstance)}`).toBe(false);
    expect(opened).toBeGreaterThan(0);
  } finally {
    await browser.close();
    trap.close();
  }
});
