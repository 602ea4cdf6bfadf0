// Builds the service worker after all files that it stores are in the folder.
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { relative, resolve } from "node:path";
import { build, type Plugin } from "vite";

/** The files of the page itself; other files in the folder are for other sites' pages. */
const app =
  /^(index\.html|one-file\.html|manifest\.json|icons\/.+|assets\/.+|gpt2\.js|gpt2-(worker|environment|figures|page-sources|sources|cache|convert|inspect|sha256)\.js|engine\/.+)$/;
const demo = /^models\/demo\/(?!MODEL_CARD)/;

function filesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.name.endsWith(".map"))
    .map((entry) => relative(folder, resolve(entry.parentPath, entry.name)).replaceAll("\\", "/"))
    .sort();
}

/** Writes `sw.js` into `out`, with the hashes of the files there. */
export function serviceWorker(out: string, plugins: Plugin[] = []): Plugin {
  const list = (files: readonly string[]) =>
    files.map((file) => ({
      url: file === "index.html" ? "./" : file,
      revision: createHash("sha256")
        .update(readFileSync(resolve(out, file)))
        .digest("hex"),
    }));
  return {
    name: "service-worker",
    apply: "build",
    closeBundle: {
      order: "post",
      sequential: true,
      async handler() {
        const files = filesBelow(out);
        const release = {
          app: list(files.filter((file) => app.test(file))),
          model: list(files.filter((file) => demo.test(file))),
        };
        await build({
          configFile: false,
          plugins,
          publicDir: false,
          logLevel: "warn",
          define: { release: JSON.stringify(release), "process.env.NODE_ENV": '"production"' },
          build: {
            outDir: out,
            emptyOutDir: false,
            target: "es2022",
            lib: {
              entry: resolve(import.meta.dirname, "src/service-worker/service-worker.ts"),
              formats: ["iife"],
              name: "serviceWorker",
              fileName: () => "sw.js",
            },
          },
        });
      },
    },
  };
}
