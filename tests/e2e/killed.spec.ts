// A tab or a browser that is killed while one types loses at most the last second. `KILLS=30 SEED=7` makes 30 kills, drawn by 7.
import { mkdtempSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium, expect, test, type BrowserContext, type Page } from "@playwright/test";
import { textOf, withoutModel } from "./page.js";

const kills = Number(process.env.KILLS ?? 4);
/** How much of the last typing may be lost. */
const mostLostMs = 1000;

/** Gives a number from 0 to 1 at each call, the same ones for the same seed: mulberry32. */
function randomOf(start: number): () => number {
  let state = start;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let bits = Math.imul(state ^ (state >>> 15), 1 | state);
    bits = (bits + Math.imul(bits ^ (bits >>> 7), 61 | bits)) ^ bits;
    return ((bits ^ (bits >>> 14)) >>> 0) / 2 ** 32;
  };
}

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
  await page.locator("#editor .cm-content").click({ timeout: 30_000 });
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
  test.setTimeout(60_000 + kills * 30_000);
  const profile = mkdtempSync(join(tmpdir(), "gpt2-killed-"));
  const random = randomOf(seed);
  const open = async () => {
    const options = { ...launchOptions, bypassCSP: true, serviceWorkers: "block" } as const;
    const opened = await chromium.launchPersistentContext(profile, options);
    await withoutModel(opened);
    return opened;
  };
  let context = await open();
  const losses: string[] = [];
  try {
    for (let kill = 0; kill < kills; kill += 1) {
      const page = await openPage(context, address);
      const before = await textOf(page);
      const what = random() < 0.5 ? "tab" : "browser";
      const times = await typeUntil(page, Date.now() + 500 + random() * 2500);
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
