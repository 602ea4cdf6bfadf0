// Opens Chromium on the built page, with a server for the other files that benchmarks need.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { root } from "../../engine/toolchain/build.mjs";

const port = 4185;

/**
 * Starts the server and the browser. `folders` maps paths of the server to folders, which are sent with
 * the headers that threads need. `openPage()` opens a fresh page. `jsFlags` go to V8.
 */
export async function openBrowser(folders, jsFlags = "") {
  const [{ chromium }, { preview }, { default: sirv }] = await Promise.all([
    import("@playwright/test"),
    import("vite"),
    import("sirv"),
  ]);
  const setHeaders = (response) => {
    response.setHeader("Cross-Origin-Opener-Policy", "same-origin");
    response.setHeader("Cross-Origin-Embedder-Policy", "require-corp");
  };
  const server = await preview({
    configFile: join(root, "web/vite.config.ts"),
    preview: { port, strictPort: true },
    plugins: [
      {
        name: "bench-files",
        configurePreviewServer({ middlewares }) {
          for (const [path, folder] of Object.entries(folders))
            middlewares.use(path, sirv(folder, { setHeaders, dev: true }));
        },
      },
    ],
  });
  const debianChromium = "/usr/bin/chromium";
  const browser = await chromium.launch({
    ...(existsSync(debianChromium) ? { executablePath: debianChromium } : {}),
    args: ["--no-sandbox", "--disable-gpu", "--disable-background-networking", `--js-flags=${jsFlags}`],
  });
  const openPage = async () => {
    const page = await browser.newPage();
    await page.goto(`http://localhost:${port}/?model=none`);
    return page;
  };
  return {
    version: browser.version(),
    openPage,
    async close() {
      await browser.close();
      await new Promise((done) => server.httpServer.close(done));
    },
  };
}
