import { createHash } from "node:crypto";
import { cpSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { defineConfig, type Plugin, type Rolldown } from "vite";
import { collectPackages, noticesFile, noticesText, packagesIn } from "./scripts/notices.mjs";
import { buildOneFilePage } from "./scripts/one-file-page.mjs";
import { releaseName } from "./scripts/release.mjs";
import {
  inEnglish,
  languageScript,
  languageSections,
  noAddresses,
  pageEnglish,
  putLanguageScript,
  wordsOf,
} from "./vite.language.js";
import { scriptless } from "./page/language/en.js";
import { serviceWorker } from "./vite.service-worker.js";

const root = import.meta.dirname;
const out = resolve(root, "dist");
/** Created by scripts/package.mjs. */
const packageFolder = resolve(root, "../build/package");

/** Copies the package's files and the demo model beside the page, which fetches them: they are not bundled. */
function copyStaticParts(): Plugin {
  return {
    name: "copy-static-parts",
    apply: "build",
    closeBundle() {
      const isPublic = (file: string) => !/\.d\.ts$|\/types$/.test(file);
      cpSync(packageFolder, out, { recursive: true, filter: isPublic });
      cpSync(resolve(root, "models"), resolve(out, "models"), { recursive: true });
    },
  };
}

/** The modules of the package that the page uses, by their sources. */
const packagedModules: Readonly<Record<string, string>> = {
  "src/client/index.ts": "gpt2.js",
  "src/figures/index.ts": "gpt2-figures.js",
};

/** The page uses the package's modules like any other site, so tests of the page test what is shipped. */
function usePackagedModules(): Plugin {
  return {
    name: "use-packaged-modules",
    apply: "build",
    enforce: "pre",
    async resolveId(id, importer) {
      if (!/src\/(client|figures)\/index\.js$/.test(id)) return null;
      const resolved = await this.resolve(id, importer, { skipSelf: true });
      const file = resolved && packagedModules[relative(root, resolved.id)];
      if (!file) return null;
      const hash = createHash("sha256")
        .update(readFileSync(resolve(packageFolder, file)))
        .digest("hex");
      // The module keeps its name; the query prevents that a cache returns another release's.
      return { id: `../${file}?${hash.slice(0, 8)}`, external: true };
    },
    transformIndexHtml: {
      order: "post",
      // Vite writes the address into the page relative to the folder of assets.
      handler: (html) => html.replace('src="../gpt2.js', 'src="./gpt2.js'),
    },
  };
}

/** Puts the page in one file, without a model, beside the page, which uses it to save itself. */
function oneFilePage(): Plugin {
  return {
    name: "one-file-page",
    apply: "build",
    closeBundle: {
      order: "post",
      sequential: true,
      handler: () => {
        const html = inEnglish(readFileSync(resolve(root, "page/index.html"), "utf8"));
        return buildOneFilePage(out, html, {
          starting: scriptless.startingFile,
          damaged: scriptless.damagedFile,
          language: languageScript(noAddresses),
        });
      },
    },
  };
}

/** Patches of packages that are built into the page. */
const changesOfPackages = [
  {
    // The page's policy forbids the editor's own <style>. So its style becomes a sheet that the document adopts, as
    // style-mod does in a shadow tree.
    file: /\/style-mod\/[^?]*\.js$/,
    from: "!root.head && root.adoptedStyleSheets",
    to: "root.adoptedStyleSheets",
  },
  {
    // A new editor leaves out most of a long line, but only if lines do not wrap. With wrapped lines it lays out the
    // whole line: half a minute for a megabyte.
    file: /\/@codemirror\/view\/dist\/index\.js$/,
    from: "gap => gap.draw(this, false)",
    to: "gap => gap.draw(this, guessWrapping)",
  },
];

function changePackages(): Plugin {
  return {
    name: "change-packages",
    apply: "build",
    transform(code, id) {
      const change = changesOfPackages.find(({ file }) => file.test(id));
      if (!change) return null;
      if (!code.includes(change.from)) this.error(`${id} has no "${change.from}", which is to be changed`);
      return { code: code.replace(change.from, change.to), map: null };
    },
  };
}

/**
 * Replaces the code that Vite puts around each import(). It fetches the chunk's stylesheets together with the chunk. Vite's own
 * code takes 1.3 kB gzipped, and does more than this page needs.
 */
const fetchWithStyles = `
const comings = {};
const fetchStyle = (href) =>
  (comings[href] ??= new Promise((resolve, reject) => {
    const link = Object.assign(document.createElement("link"), { rel: "stylesheet", href });
    link.onload = resolve;
    link.onerror = () => {
      link.remove();
      delete comings[href];
      reject(new Error("cannot load " + href));
    };
    document.head.append(link);
  }));
export const __vitePreload = (bring, styles = [], base) =>
  Promise.all([bring(), ...styles.map((style) => fetchStyle(new URL(style, base).href))]).then(([part]) => part);
`;

/** Of the table of options, the page needs only what it shows itself. */
function optionsOfPage(): Plugin {
  return {
    name: "options-of-page",
    apply: "build",
    enforce: "pre",
    load(id) {
      if (!id.endsWith("/engine/generate/options.json")) return null;
      const rows = JSON.parse(readFileSync(id, "utf8")) as { name: string; page?: object }[];
      return JSON.stringify(rows.map(({ name, page }) => ({ name, page })));
    },
  };
}

function smallPreload(): Plugin {
  return {
    name: "small-preload",
    apply: "build",
    transform(code, id) {
      if (!id.includes("vite/preload-helper")) return null;
      if (!code.includes("export const __vitePreload ="))
        this.error("Vite's helper has another export than __vitePreload");
      return { code: fetchWithStyles, map: null };
    },
  };
}

/** Without comments and indentation, which nobody reads in the built page. */
function shortHtml(): Plugin {
  return {
    name: "short-html",
    apply: "build",
    transformIndexHtml: {
      order: "pre",
      handler: (html) => html.replace(/<!--(?! language).*?-->/gs, "").replace(/\n\s+/g, "\n"),
    },
  };
}

/** The npm packages that are built into the page and its service worker. */
const bundled = new Set<string>();

/** Their notices, and those of the package that the page uses. */
function notices(): Plugin {
  return {
    name: "notices",
    apply: "build",
    closeBundle: {
      order: "post",
      sequential: true,
      handler() {
        const ofPackage = packagesIn(readFileSync(resolve(packageFolder, noticesFile), "utf8"));
        writeFileSync(resolve(out, noticesFile), noticesText([...ofPackage, ...bundled]));
      },
    },
  };
}

/** The stylesheet is beside the page. With a crossorigin attribute it would not load from disk. */
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

/** The hosts of the Hugging Face Hub, and those that it redirects to for large files. */
const hubHosts = "https://huggingface.co https://*.huggingface.co https://*.hf.co";
/** Further hosts of models for a site that builds the page: "https://models.example https://*.cdn.example". */
const otherHosts = process.env.GPT2_CONNECT_SRC ?? "";

/**
 * The page's Content-Security-Policy: nothing written into the page can load a script. The page contacts only its own
 * host, the Hub's, and those that the builder names. Workers start from blobs on hosts that isolate the page but not its
 * workers.
 */
const policyWith = (scriptHash: string) =>
  [
    "default-src 'none'",
    `script-src 'self' 'wasm-unsafe-eval' 'sha256-${scriptHash}'`,
    "worker-src 'self' blob:",
    `connect-src 'self' ${hubHosts} ${otherHosts}`.trimEnd(),
    "style-src 'self'",
    "img-src 'self' data:",
    "manifest-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
  ].join("; ");

/** Lets the browser fetch a chunk together with the page's own script: over a slow line that saves a round trip. */
function preloadOf(bundle: Rolldown.OutputBundle, name: string) {
  const chunk = Object.values(bundle).find((part) => part.type === "chunk" && part.name === name);
  if (!chunk) throw new Error(`the build has no chunk "${name}", expected one to preload`);
  const attrs = { rel: "modulepreload", href: `./${chunk.fileName}` };
  return { tag: "link", attrs, injectTo: "head" as const };
}

/**
 * The script that chooses the language, and the policy that allows it: first in the page, because a policy applies to
 * what follows it.
 */
function headOfPage(): Plugin {
  return {
    name: "head-of-page",
    transformIndexHtml: {
      order: "post",
      handler(html, { bundle }) {
        const script = languageScript(bundle ? wordsOf(bundle) : noAddresses);
        const changed = putLanguageScript(html, script);
        // In development Vite adds scripts of its own.
        if (!bundle) return changed;
        const content = policyWith(createHash("sha256").update(script).digest("base64"));
        const attrs = { "http-equiv": "Content-Security-Policy", content };
        const policy = { tag: "meta", attrs, injectTo: "head-prepend" as const };
        return { html: changed, tags: [policy, preloadOf(bundle, "first-visit")] };
      },
    },
  };
}

/** Vite's server treats files without a type as text and compresses them: half a second without any gain. */
function piecesAreBinary(): Plugin {
  return {
    name: "pieces-are-binary",
    configurePreviewServer(server) {
      server.middlewares.use((request, response, next) => {
        const { pathname } = new URL(request.url ?? "", "http://localhost");
        if (/\.safetensors(\.\d+)?$/.test(pathname))
          response.setHeader("Content-Type", "application/octet-stream");
        next();
      });
    },
  };
}

/** While `npm start` builds the rest of the page, a request for a missing file waits until the rest is built. */
function waitForTheRest(unfinished: string): Plugin {
  const later = () => new Promise((resume) => setTimeout(resume, 200));
  return {
    name: "wait-for-the-rest",
    configurePreviewServer(server) {
      server.middlewares.use((request, _response, next) => {
        const { pathname } = new URL(request.url ?? "", "http://localhost");
        const file = join(out, pathname.endsWith("/") ? `${pathname}index.html` : pathname);
        const wait = async () => {
          while (!existsSync(file) && existsSync(unfinished)) await later();
        };
        void wait().finally(next);
      });
    },
  };
}

/** Cross-origin isolation, which threads require. */
const isolation = {
  "Cross-Origin-Opener-Policy": "same-origin",
  "Cross-Origin-Embedder-Policy": "require-corp",
};

/** Files that `npm start` leaves for later. */
const others = process.env.GPT2_FIRST_PAGE
  ? []
  : [oneFilePage(), serviceWorker(out, [collectPackages(bundled)]), notices()];
const { GPT2_UNFINISHED: unfinished } = process.env;

export default defineConfig({
  root: resolve(root, "page"),
  base: "./", // works from any sub-path
  define: { GPT2_RELEASE: JSON.stringify(releaseName()) },
  appType: "mpa", // a missing file is 404, not the page
  build: {
    outDir: out,
    emptyOutDir: true,
    target: "es2022",
    modulePreload: false,
    rolldownOptions: {
      checks: { bundlerTimings: false }, // closeBundle is slow on purpose: it builds three more files
      output: {
        // Everything for the first paint in one file: a shared chunk would cost another round trip, and more bytes.
        codeSplitting: { groups: [{ name: "index", test: /\/page\/app\.ts$/ }] },
        entryFileNames: "assets/[name]-[hash].js",
        chunkFileNames: "assets/[name]-[hash].js",
        assetFileNames: "assets/[name]-[hash][extname]",
      },
    },
  },
  plugins: [
    collectPackages(bundled),
    usePackagedModules(),
    copyStaticParts(),
    changePackages(),
    optionsOfPage(),
    smallPreload(),
    plainStylesheet(),
    shortHtml(),
    pageEnglish(),
    languageSections(),
    headOfPage(),
    ...others,
    ...(unfinished ? [waitForTheRest(unfinished)] : []),
    piecesAreBinary(),
  ],
  preview: { headers: isolation },
  server: { headers: isolation },
});
