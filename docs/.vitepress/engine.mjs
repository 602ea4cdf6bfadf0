// The package and the demo model beside the site, for its live examples: gpt2/ and models/demo/.
import { cpSync } from "node:fs";
import { join, resolve } from "node:path";
import sirv from "sirv";

const root = resolve(import.meta.dirname, "../..");
const folders = { gpt2: join(root, "build/package"), "models/demo": join(root, "web/models/demo") };

/**
 * Serves them during `npm run docs`.
 * @param {{ base: string }} options
 * @returns {import("vitepress").Plugin}
 */
export const engineBeside = ({ base }) => ({
  name: "engine-beside",
  configureServer({ middlewares }) {
    for (const [path, folder] of Object.entries(folders))
      middlewares.use(`${base}${path}`, sirv(folder, { dev: true }));
  },
});

/**
 * Copies them into the built site.
 * @param {string} out
 */
export function copyEngine(out) {
  for (const [path, folder] of Object.entries(folders)) {
    cpSync(folder, join(out, path), {
      recursive: true,
      filter: (file) => !/\.(d\.ts|map)$|\/types$/.test(file),
    });
  }
}
