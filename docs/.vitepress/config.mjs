// The documentation site: `npm run docs` serves it, `npm run docs:build` writes it. docs/index.md is the one list of its pages.
import { join, resolve } from "node:path";
import { defineConfig } from "vitepress";
import { engineBeside } from "./engine.mjs";
import { diagrams, documentLinks, liveExamples, slugOf } from "./markdown.mjs";
import { sidebar } from "./sidebar.mjs";

const root = resolve(import.meta.dirname, "../..");
/** A host's sub-path begins and ends with a slash. */
const base = process.env.GPT2_DOCS_BASE ?? "/";

export default defineConfig({
  lang: "en",
  title: "gpt2-wasm",
  description: "GPT-2 in the visitor's browser: how to use it, and how it works",
  base,
  cleanUrls: false, // a plain static host serves files by their names
  outDir: process.env.GPT2_DOCS_OUT ?? join(root, "build/docs"),
  cacheDir: join(root, "build/docs-cache"),
  lastUpdated: false,
  themeConfig: {
    outline: [2, 3],
    search: { provider: "local" },
    sidebar: sidebar(),
  },
  markdown: {
    theme: { light: "github-light-high-contrast", dark: "github-dark-high-contrast" },
    anchor: { slugify: slugOf },
    config(md) {
      md.use(liveExamples, { base });
      md.use(diagrams);
      md.use(documentLinks);
    },
  },
  vue: { template: { compilerOptions: { isCustomElement: (tag) => tag.startsWith("gpt2-") } } },
  vite: { plugins: [engineBeside({ base })] },
});
