// A stand-in for the Hub, a new one for each test of a file, and a page that loads no model by itself.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "@playwright/test";
import { StandInHub } from "../weights_tools/stand-in-hub.js";

export let hub: StandInHub;
/** Its address, for the option `hub`. */
export let origin: string;

export function useHub(): void {
  test.beforeEach(async ({ page }) => {
    hub = new StandInHub();
    origin = await hub.start();
    await page.goto("./?model=none");
  });
  test.afterEach(() => hub.stop());
}

/** Puts the hub's files into a folder, and returns the result of `use` with it. */
export function inFolder<T>(use: (folder: string) => T): T {
  const folder = mkdtempSync(join(tmpdir(), "gpt2-hub-"));
  for (const [file, buffer] of Object.entries(hub.files)) writeFileSync(join(folder, file), buffer);
  try {
    return use(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}
