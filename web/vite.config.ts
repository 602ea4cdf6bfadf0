import { cpSync, existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { defineConfig, minify, type Plugin } from "vite";

const root = import.meta.dirname;
const out = resolve(root, "dist");
const engine = resolve(root, "../build/wasm/engine");

/** Puts the engine's builds and the demo model beside the bundles: both are fetched, never bundled. */
function copyStaticParts(): Plugin {
  return {
    name: "copy-static-parts",
    apply: "build",
    async closeBundle() {
      if (!existsSync(engine)) throw new Error(`no engine in ${engine}: run npm run build`);
      mkdirSync(resolve(out, "engine"), { recursive: true });
      for (const file of readdirSync(engine).filter((name) => /^gpt2-.*\.(mjs|wasm)$/.test(name))) {
        const target = resolve(out, "engine", file);
        if (file.endsWith(".wasm")) cpSync(resolve(engine, file), target);
        else writeFileSync(target, (await minify(file, readFileSync(resolve(engine, file), "utf8"))).code);
      }
      cpSync(resolve(root, "models"), resolve(out, "models"), { recursive: true });
    },
  };
}

/** The stylesheet lies beside the page; asked for as if from another origin it does not load from a disk. */
function plainStylesheet(): Plugin {
  return {
    name: "plain-stylesheet",
    apply: "build",
    transformIndexHtml: {
      order: "post",
      handler: (html) => html.replace('<link rel="stylesheet" crossorigin', '<link rel="stylesheet"'),
    },
  };
}

/** Cross-origin isolation, without which a page has no threads. */
const isolation = {
  "Cross-Origin-Opener-Policy": "same-origin",
  "Cross-Origin-Embedder-Policy": "require-corp",
};

export default defineConfig({
  root: resolve(root, "page"),
  base: "./", // works from any sub-path
  appType: "mpa", // a file that is not there is 404, not the page
  build: {
    outDir: out,
    emptyOutDir: true,
    target: "es2022",
    modulePreload: false,
    rollupOptions: {
      input: { index: resolve(root, "page/index.html"), gpt2: resolve(root, "src/client/index.ts") },
      preserveEntrySignatures: "strict",
      output: {
        entryFileNames: (chunk) => (chunk.name === "gpt2" ? "gpt2.js" : "assets/[name].js"),
        chunkFileNames: "assets/[name].js",
        assetFileNames: "assets/[name][extname]",
      },
    },
  },
  worker: {
    format: "es",
    rollupOptions: { output: { entryFileNames: "gpt2-worker.js" } },
  },
  plugins: [copyStaticParts(), plainStylesheet()],
  preview: { headers: isolation },
  server: { headers: isolation },
});
