// A stand-in for the hub, at the hub's own address, that has the demo model under any id.
import { readdirSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import type { Page } from "@playwright/test";
import { StandInHub } from "../weights_tools/stand-in-hub.js";
import { demo } from "./model.js";

/** Starts it for `page`. Each request waits for the promise that `onRequest` returns. */
export async function startDemoHub(
  page: Page,
  onRequest: (pathname: string) => Promise<void> | void,
): Promise<StandInHub> {
  const hub = new StandInHub();
  for (const name of readdirSync(demo)) hub.files[name] = readFileSync(resolve(demo, name));
  const origin = await hub.start();
  await page.route("https://huggingface.co/**", async (route) => {
    const { pathname, search } = new URL(route.request().url());
    await onRequest(pathname);
    const answer = await fetch(`${origin}${pathname}${search}`).catch(() => undefined);
    if (!answer) return; // the test has ended, and its hub with it, while the page asks for more
    await route.fulfill({
      status: answer.status,
      headers: Object.fromEntries(answer.headers),
      body: Buffer.from(await answer.arrayBuffer()),
    });
  });
  return hub;
}
