// Builds the npm package in build/package: modules, worker, engine, types and source maps. Needs the engine
// (build/wasm/engine) and the types (npx tsc -b web). With --without-types, the package has no types and needs none. With
// --first-page, it has only what a page loads first, and needs only one build of the engine.
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "rolldown";
import { engineParts, firstVariant, variants } from "../../engine/toolchain/build.mjs";
import { customElementsManifest } from "./custom-elements.mjs";
import { writeFrameworkTypes } from "./framework-types.mjs";
import { hashedCode } from "./hash-code.mjs";
import { collectPackages, noticesFile, noticesText } from "./notices.mjs";
import { packedClient, packedWorker } from "./one-file.mjs";
import { packedParts } from "./pack.mjs";
import { packageFolder, releaseName } from "./release.mjs";

const root = resolve(import.meta.dirname, "../..");
const sources = join(root, "web/src");
const engine = join(root, "build/wasm/engine");
const types = join(root, "build/types/src");

/** The public modules: file name, source, and the place of their types. */
const modules = [
  { name: "gpt2", source: "client/index" },
  { name: "gpt2-element", source: "element/index" },
  { name: "gpt2-element-classes", source: "element/classes" },
  { name: "gpt2-openai", source: "openai/index" },
  { name: "gpt2-figures", source: "figures/index" },
];

/** The folders of the bundled npm packages. @type {Set<string>} */
const bundled = new Set();

/**
 * Every `new URL("…", import.meta.url)` stays unchanged: the bundler of the package's user follows it.
 * @param {string} release
 * @param {string} input
 * @param {string} output
 * @param {{ define?: Record<string, string>, plugins?: import("rolldown").Plugin[],
 *   platform?: "browser" | "node", banner?: string }} options
 */
function bundle(
  release,
  input,
  output,
  {
    define = {},
    plugins = [clientFrom("./gpt2.js"), classesApart, chunksApart],
    platform = "browser",
    banner = "",
  } = {},
) {
  return build({
    input: join(sources, input),
    platform,
    logLevel: "warn",
    experimental: { nativeMagicString: true },
    transform: { target: "es2022", define: { GPT2_RELEASE: JSON.stringify(release), ...define } },
    output: {
      file: join(packageFolder, output),
      codeSplitting: false,
      format: "es",
      sourcemap: true,
      minify: true,
      postBanner: banner,
      comments: { annotation: true, legal: false, jsdoc: false }, // marks what bundlers must not change
    },
    plugins: [plainQuotes, collectPackages(bundled), ...plugins],
  });
}

/**
 * Other modules import the client from `file` beside it, so that it exists once, with one worker per model.
 * @param {string} file
 * @returns {import("rolldown").Plugin}
 */
const clientFrom = (file) => ({
  name: "client-from",
  resolveId: (id) => (id.endsWith("/client/index.js") ? { id: file, external: "relative" } : null),
});

/**
 * The module that defines the elements imports their classes: each class exists once.
 * @type {import("rolldown").Plugin}
 */
const classesApart = {
  name: "classes-apart",
  resolveId: (id, importer) =>
    id === "./classes.js" && importer === join(sources, "element/index.ts")
      ? { id: "./gpt2-element-classes.js", external: "relative" }
      : null,
};

/**
 * The components for React import the elements, and the React of the page.
 * @type {import("rolldown").Plugin}
 */
const elementsAndReactApart = {
  name: "elements-and-react-apart",
  resolveId: (id) =>
    id === "react"
      ? { id, external: true }
      : id === "./index.js"
        ? { id: "./gpt2-element.js", external: "relative" }
        : null,
};

/** Modules that contain everything. */
const oneFileModules = [
  { name: "gpt2.bundle", source: "client/index" },
  { name: "gpt2-element.bundle", source: "element/index" },
];

/** Parts that few pages need are separate files: file name, and source. */
const apart = [
  { name: "gpt2-environment", source: "client/environment" },
  { name: "gpt2-fill", source: "client/fill" },
  { name: "gpt2-causes", source: "client/causes" },
  { name: "gpt2-page-sources", source: "client/page-sources" },
  { name: "gpt2-isolate", source: "client/isolate-page" },
  { name: "gpt2-fallback", source: "client/fallback" },
  { name: "gpt2-convert", source: "model/convert/index" },
  { name: "gpt2-languages", source: "model/convert/languages" },
  { name: "gpt2-sources", source: "model/sources/open-source" },
  { name: "gpt2-inspect", source: "worker/inspect" },
  { name: "gpt2-cache", source: "model/store/index" },
  { name: "gpt2-sha256", source: "model/insecure-sha256" },
];

/** The parts among these that the worker loads: web/src/worker/addresses.ts lists them, too. */
const workerParts = [
  "gpt2-convert",
  "gpt2-languages",
  "gpt2-sources",
  "gpt2-inspect",
  "gpt2-cache",
  "gpt2-sha256",
];

/** The module for bundlers that leave the worker behind. */
const inlined = { name: "gpt2-inlined", source: "client/inlined-worker" };

/**
 * Keeps parts that are imported on demand in separate files. Shared code is duplicated there: its classes exist twice,
 * so errors are recognized by a mark (shared/errors.ts).
 * @type {import("rolldown").Plugin}
 */
const chunksApart = {
  name: "chunks-apart",
  resolveId(id, importer, { kind }) {
    if (kind !== "dynamic-import" || !importer) return null;
    const path = resolve(importer, "..", id).replace(/\.js$/, "");
    const found = [...apart, inlined].find(({ source }) => path === join(sources, source));
    return found ? { id: `./${found.name}.js`, external: "relative" } : null;
  },
};

/** Not every bundler accepts a template in place of a literal. */
const plainQuotes = {
  name: "plain-quotes",
  generateBundle(_, files) {
    for (const file of Object.values(files)) {
      if (file.type !== "chunk") continue;
      file.code = file.code
        .replace(/new URL\(`([^`$\\]*)`,/g, 'new URL("$1",')
        .replace(/import\(`([^`$\\]*)`\)/g, 'import("$1")')
        .replace(/type:`module`/g, 'type:"module"');
    }
  },
};

/**
 * Replaces the import of a part that the worker loads by the result of `importer`.
 * @param {(file: string) => string} importer
 * @returns {import("rolldown").Plugin}
 */
const partsThrough = (importer) => ({
  name: "parts-through",
  renderChunk(_code, _chunk, _options, { magicString }) {
    for (const part of workerParts) {
      const file = `"./${part}.js"`;
      magicString?.replaceAll(`import(${file})`, `${importer(file)}(${file})`);
    }
    return magicString ?? null;
  },
});

/** The worker imports its parts by their addresses (web/src/worker/addresses.ts): many bundlers cannot split a worker. */
const partsByAddress = partsThrough(() => "gpt2Part");

/**
 * The same within a part, which bundlers copy unchanged for the worker. In a page, which may load it too, it imports by
 * itself.
 */
const partsOfParts = partsThrough((file) => `(globalThis.gpt2Part??(()=>import(${file})))`);

/**
 * webpack's minifier treats files that it only copies as sloppy scripts, in which functions in blocks have another
 * meaning.
 */
const copiedScript = '"use strict";';

/** Vite inlines smaller files into others, where a script has no address from which to find its code. */
const leastScriptBytes = 4097;

/** @param {string} file */
function pad(file) {
  writeFileSync(file, readFileSync(file, "utf8").padEnd(leastScriptBytes));
}

/**
 * The builds, each with the script that starts it. The script is the same for all, and helper threads start from it,
 * too.
 */
async function buildEngine(release, built = variants) {
  for (const variant of built) {
    const file = `engine/gpt2-${variant}`;
    await bundle(release, "worker/engine-script.ts", `${file}.js`, { plugins: [], banner: copiedScript });
    pad(join(packageFolder, `${file}.js`));
    writeFileSync(
      join(packageFolder, `${file}.wasm`),
      hashedCode(readFileSync(join(engine, `gpt2-${variant}.wasm`))),
    );
  }
}

function copyTypes() {
  const copied = new Set();
  /** Copies a module and the files that it names. */
  const copy = (module) => {
    if (copied.has(module)) return;
    copied.add(module);
    const text = readFileSync(join(types, `${module}.d.ts`), "utf8");
    const target = join(packageFolder, "types", `${module}.d.ts`);
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(target, text);
    for (const [, named = ""] of text.matchAll(/\b(?:from|import)\s*\(?"(\.[^"]+)\.js"/g))
      copy(join(dirname(module), named));
  };
  for (const { name, source } of [...modules, ...oneFileModules]) {
    copy(source);
    writeFileSync(join(packageFolder, `${name}.d.ts`), `export * from "./types/${source}.js";\n`);
  }
  // These are run, not imported.
  for (const script of ["gpt2-worker", "isolate"]) {
    writeFileSync(join(packageFolder, `${script}.d.ts`), "export {};\n");
  }
}

/** Modules that contain worker and engine: the client, the elements, and the worker for bundlers that find no other. */
async function buildOneFile(release) {
  const worker = await packedWorker(release, join(packageFolder, "engine"), { hasLanguages: false });
  const define = { GPT2_WORKER: JSON.stringify(worker) };
  for (const { name, source } of oneFileModules) {
    await bundle(release, `${source}.ts`, `${name}.js`, { define, plugins: [packedClient] });
  }
  await bundle(release, `${inlined.source}.ts`, `${inlined.name}.js`, { define });
}

/** The modules and the worker, with the parts that `isWanted` says and the constants that they need. */
async function buildModules(release, define = {}, isWanted = (_part) => true) {
  rmSync(packageFolder, { recursive: true, force: true });
  for (const { name, source } of modules) await bundle(release, `${source}.ts`, `${name}.js`);
  const forReact = { plugins: [elementsAndReactApart], banner: '"use client";' }; // a server only renders it
  await bundle(release, "element/react.ts", "gpt2-element-react.js", forReact);
  const ofWorker = { plugins: [chunksApart, partsOfParts], banner: copiedScript, define };
  for (const { name, source } of apart.filter(({ name }) => isWanted(name))) {
    const isOfWorker = workerParts.includes(name);
    await bundle(release, `${source}.ts`, `${name}.js`, isOfWorker ? ofWorker : {});
    if (isOfWorker) pad(join(packageFolder, `${name}.js`));
  }
  const inWorker = { plugins: [chunksApart, partsByAddress] };
  await bundle(release, "worker/worker.ts", "gpt2-worker.js", inWorker);
}

/** What a page loads first. */
async function buildFirstPage() {
  const release = releaseName();
  await buildModules(release, {}, (part) => engineParts.every((name) => part !== `gpt2-${name}`));
  await buildEngine(release, [firstVariant]);
}

/** The program `gpt2-wasm`, which uses the modules beside it. */
async function buildProgram(release) {
  const parts = {
    ...Object.fromEntries(apart.map(({ name, source }) => [source, name])),
    "node/index": "gpt2-node",
  };
  /** @type {import("rolldown").Plugin} */
  const modulesApart = {
    name: "modules-apart",
    resolveId(id, importer) {
      const path = importer ? resolve(importer, "..", id).replace(/\.js$/, "") : "";
      const found = parts[relative(sources, path)];
      return found ? { id: `./${found}.js`, external: "relative" } : null;
    },
  };
  const options = { platform: /** @type {const} */ ("node"), plugins: [modulesApart] };
  await bundle(release, "cli/index.ts", "gpt2-cli.js", { ...options, banner: "#!/usr/bin/env node" });
  chmodSync(join(packageFolder, "gpt2-cli.js"), 0o755);
}

export async function buildPackage({ types: hasTypes = true } = {}) {
  if (!existsSync(engine)) throw new Error(`no engine in ${engine}: run npm run build`);
  const release = releaseName();
  await buildModules(release, packedParts());
  const inNode = { platform: /** @type {const} */ ("node"), plugins: [chunksApart] };
  await bundle(release, "node/index.ts", "gpt2-node.js", inNode);
  const onNode = { platform: /** @type {const} */ ("node"), plugins: [clientFrom("./gpt2-node.js")] };
  await bundle(release, "openai/index.ts", "gpt2-node-openai.js", onNode);
  await bundle(release, "node/worker.ts", "gpt2-node-worker.js", inNode);
  await buildProgram(release);
  await buildEngine(release);
  await buildOneFile(release);
  await bundle(release, "service-worker/isolate-only.ts", "isolate.js");
  writeFileSync(join(packageFolder, noticesFile), noticesText(bundled));
  const manifest = customElementsManifest();
  writeFileSync(join(packageFolder, "custom-elements.json"), `${JSON.stringify(manifest)}\n`);
  if (!hasTypes) return;
  copyTypes();
  await writeFrameworkTypes(manifest, packageFolder);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  if (process.argv.includes("--first-page")) await buildFirstPage();
  else await buildPackage({ types: !process.argv.includes("--without-types") });
}
