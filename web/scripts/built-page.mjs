// Serves the built page and opens it in a browser, for the scripts that take pictures of it. Needs `npm run build`
// first.
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { chromium } from "@playwright/test";
import { preview } from "vite";

const port = Number(process.env.PORT ?? 4184);
const debianChromium = "/usr/bin/chromium";

/** Starts Debian's Chromium, or Playwright's own where there is none. */
export const launchChromium = () =>
  chromium.launch({
    ...(existsSync(debianChromium) ? { executablePath: debianChromium } : {}),
    args: ["--no-sandbox", "--disable-gpu"],
  });

/**
 * Runs `use` with a browser in which pages open the built page as "./".
 * @param {(newPage: (options: import("@playwright/test").BrowserContextOptions) => Promise<import("@playwright/test").Page>, port: number) => Promise<void>} use
 */
export async function withBuiltPage(use) {
  const configFile = resolve(import.meta.dirname, "../vite.config.ts");
  const server = await preview({ configFile, preview: { port, strictPort: true } });
  const browser = await launchChromium();
  try {
    const newPage = (options) =>
      browser.newPage({ baseURL: `http://localhost:${port}/`, serviceWorkers: "block", ...options });
    await use(newPage, port);
  } finally {
    await browser.close();
    await new Promise((done) => server.httpServer.close(done));
  }
}
