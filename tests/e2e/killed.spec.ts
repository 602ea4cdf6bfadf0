// A tab or a browser that is killed while one types loses at most the last second. `KILLS=30 SEED=7` makes 30 kills, drawn by 7.
import { mkdtempSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium, expect, test, type BrowserContext, type Page } from "@playwright/test";
import * as fc from "fast-check";
import { hangLimits } from "../support/hang-limits.js";
import { textOf, withoutModel } from "./page.js";

const kills = Number(process.env.KILLS ?? 4);
/** How much of the last typing may be lost. */
const mostLostMs = 1000;

/** The main process of the browser with this profile. */
function processOf(profile: string): number {
  for (const pid of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
    try {
      const command = readFileSync(`/proc/${pid}/cmdline`, "utf8");
      if (command.includes(`--user-data-dir=${profile}`) && !command.includes("--type=")) return Number(pid);
    } catch {
      // It has ended.
    }
  }
  throw new Error("the browser has no process");
}

/** Opens the page where one types at the end of the text. */
async function openPage(context: BrowserContext, address: string): Promise<Page> {
  const page = await context.newPage();
  await page.goto(address);
  await page.locator("#editor .cm-content").click();
  await page.keyboard.press("Control+End");
  return page;
}

/** Types letters until `end`, and gives when each was typed. */
async function typeUntil(page: Page, end: number): Promise<number[]> {
  const times: number[] = [];
  for (let place = 0; Date.now() < end; place += 1) {
    await page.keyboard.type("abcdefghij"[place % 10] ?? "");
    times.push(Date.now());
  }
  return times;
}

test("text typed a second before the browser is killed is restored afterwards", async ({
  baseURL,
  launchOptions,
}) => {
  const address = baseURL ?? "";
  const seed = Number(process.env.SEED ?? Date.now() % 100_000);
  test.setTimeout(hangLimits.timeout + kills * 30_000);
  const profile = mkdtempSync(join(tmpdir(), "gpt2-killed-"));
  /** What each kill ends, and after how many milliseconds of typing. */
  const plan = fc.sample(fc.tuple(fc.constantFrom("tab", "browser"), fc.integer({ min: 500, max: 3000 })), {
    seed,
    numRuns: kills,
  });
  const open = async () => {
    const options = { ...launchOptions, bypassCSP: true, serviceWorkers: "block" } as const;
    const opened = await chromium.launchPersistentContext(profile, options);
    await withoutModel(opened);
    return opened;
  };
  let context = await open();
  const losses: string[] = [];
  try {
    for (const [what, typingMs] of plan) {
      const page = await openPage(context, address);
      const before = await textOf(page);
      const times = await typeUntil(page, Date.now() + typingMs);
      const killed = Date.now();
      if (what === "tab") {
        const crashed = page.waitForEvent("crash");
        const session = await context.newCDPSession(page);
        void session.send("Page.crash").catch(() => undefined); // never answered
        await crashed;
        await page.close();
      } else {
        const closed = context.waitForEvent("close");
        process.kill(processOf(profile), "SIGKILL");
        await closed;
        context = await open();
      }
      const next = await openPage(context, address);
      const kept = (await textOf(next)).length - before.length;
      expect((await textOf(next)).startsWith(before)).toBe(true);
      await next.close({ runBeforeUnload: true });
      const lostMs = kept < times.length ? killed - (times[kept] ?? killed) : 0;
      losses.push(`${what} ${times.length - kept} letters, ${lostMs} ms`);
      expect(lostMs, `seed ${seed}: ` + losses.join("; ")).toBeLessThanOrEqual(mostLostMs);
    }
  } finally {
    console.log(`seed ${seed}, lost by each kill: ${losses.join("; ")}`);
    await context.close();
    rmSync(profile, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  }
});
