// A tab of Chromium without DevTools, and the memory that it takes. With DevTools attached, which is how Playwright
// drives a page, the browser keeps a copy of what the page fetches: up to 100 MB.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readdirSync, readFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium } from "@playwright/test";

const debianChromium = "/usr/bin/chromium";
const kibi = 1024;

/** A field of /proc/PID/status or of a mapping in smaps, in MiB. */
const field = (text, name) => Number(new RegExp(`^${name}:\\s+(\\d+)`, "m").exec(text)?.[1] ?? 0) / kibi;

const read = (pid, name) => readFileSync(`/proc/${pid}/${name}`, "utf8");

/** Private memory of a process, in MiB, without the browser's program, which processes share. */
function ownMemory(pid) {
  const status = read(pid, "status");
  return field(status, "RssAnon") + field(status, "RssShmem");
}

/** Processes of pages that `browser` has started, itself or through others. */
function pagesOf(browser) {
  const isOurs = (pid) => {
    for (let each = pid; each > 1; each = Number(/^PPid:\s+(\d+)/m.exec(read(each, "status"))?.[1] ?? 0))
      if (each === browser) return true;
    return false;
  };
  return readdirSync("/proc")
    .map(Number)
    .filter((pid) => {
      try {
        return pid > 1 && read(pid, "cmdline").includes("--type=renderer") && isOurs(pid);
      } catch {
        return false; // it has ended
      }
    });
}

/** Removes a profile folder. Processes of the browser may still write to it for a moment after it has ended. */
export const removeProfile = (folder) =>
  rm(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });

/** Opens `url` in a new browser. `profile` is its profile folder, which is kept. */
export async function openTab(url, profile) {
  const folder = profile ?? mkdtempSync(join(tmpdir(), "gpt2-tab-"));
  const browser = spawn(
    existsSync(debianChromium) ? debianChromium : chromium.executablePath(),
    [
      ...["headless=new", "no-sandbox", "disable-gpu", "no-first-run", "disable-background-networking"],
      ...["disable-component-update", `user-data-dir=${folder}`],
    ]
      .map((option) => `--${option}`)
      .concat(url),
    { stdio: "ignore" },
  );
  const exited = once(browser, "exit");
  return {
    /**
     * The result of `run`, and the memory of the page's process in MiB: before, and the most in addition during `run`.
     */
    async watch(run) {
      const before = new Map(pagesOf(browser.pid).map((pid) => [pid, ownMemory(pid)]));
      let most = { base: 0, taken: 0 };
      const look = () => {
        for (const [pid, base] of before) {
          const taken = ownMemory(pid) - base;
          if (taken > most.taken) most = { base, taken };
        }
      };
      const timer = setInterval(look, 10);
      try {
        const result = await run();
        look();
        return { result, ...most };
      } finally {
        clearInterval(timer);
      }
    },
    async close() {
      browser.kill();
      await exited;
      if (profile === undefined) await removeProfile(folder);
    },
  };
}
