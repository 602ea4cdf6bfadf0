// The npm package: its contents, its size, and the results of tools that check packages.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "@playwright/test";
import { variants } from "../../web/src/shared/types.js";
import { frameworkNames } from "../../web/scripts/framework-types.mjs";
import { bin, makeApp, root, run, tarball } from "./app.js";

const listing = () =>
  run(root, "tar", "-tvzf", tarball)
    .trim()
    .split("\n")
    .map((line) => {
      const [, , size, , , name = ""] = line.split(/\s+/);
      return { size: Number(size), name: name.replace(/^package\//, "") };
    });

const modules =
  "gpt2.js gpt2.js.map gpt2.d.ts gpt2-element.js gpt2-element-classes.js gpt2-element-react.d.ts gpt2-fallback.js " +
  "gpt2-element.bundle.js gpt2-inlined.js gpt2-openai.js gpt2-figures.js gpt2-node.js gpt2-node-worker.js isolate.js " +
  "gpt2-worker.js custom-elements.json";

test("the tarball contains module, worker, engines, types and maps, and neither page nor model", () => {
  const files = listing();
  const names = files.map(({ name }) => name);
  const engines = variants.flatMap((name) => [`engine/gpt2-${name}.js`, `engine/gpt2-${name}.wasm`]);
  const built = [...modules.split(" "), ...engines].map((name) => `build/package/${name}`);
  expect(names).toEqual(expect.arrayContaining(["LICENSE", "README.md", "package.json", ...built]));
  const isExpected = /^build\/package\/|^(LICENSE|README\.md|package\.json)$/;
  expect(names.filter((name) => !isExpected.test(name))).toEqual([]);
  expect(names.filter((name) => /\.(html|mjs|safetensors)/.test(name))).toEqual([]);
  const shipped = files.filter(({ name }) => !name.endsWith(".map"));
  // It contains worker and engine four times: as files, and in three modules.
  expect(shipped.reduce((sum, { size }) => sum + size, 0)).toBeLessThan(5_100_000);
  expect(files.find(({ name }) => name.endsWith("/gpt2.bundle.js"))?.size).toBeGreaterThan(200_000);
});

test("no script that the worker fetches is so small that a bundler would inline it", () => {
  for (const { name, size } of listing()) {
    if (/engine\/.*\.js$|gpt2-(cache|convert|inspect|sha256|sources)\.js$/.test(name))
      expect(size, name).toBeGreaterThan(4096); // Vite's limit
  }
});

test("bundlers find each address in the package, and the marks for those to skip", () => {
  const folder = join(makeApp("import-map"), "node_modules/gpt2-wasm/build/package");
  const read = (name: string) => readFileSync(join(folder, name), "utf8");
  expect(read("gpt2.js")).toContain(
    'new Worker(new URL("./gpt2-worker.js",import.meta.url),{type:"module",name:',
  );
  const worker = read("gpt2-worker.js");
  for (const variant of variants) {
    for (const type of ["js", "wasm"])
      expect(worker).toContain(`new URL("./engine/gpt2-${variant}.${type}",import.meta.url)`);
  }
  // Vite 5 to 7 build no worker that has several chunks.
  expect(worker).not.toMatch(/import\(["'`]\./);
  for (const part of ["cache", "convert", "inspect", "sha256", "sources"])
    expect(worker).toContain(`new URL("./gpt2-${part}.js",import.meta.url)`);
  for (const comment of ["@vite-ignore", "webpackIgnore: true", "turbopackIgnore: true"])
    expect(worker).toContain(comment);
});

test("publint and arethetypeswrong find no problem", () => {
  expect(run(root, bin("publint"), tarball, "--strict")).toContain("All good");
  run(root, bin("attw"), tarball, "--profile", "esm-only"); // exits with 1 if it finds a problem
});

test("TypeScript finds the types with moduleResolution node10, which does not read exports", () => {
  const folder = makeApp("import-map");
  writeFileSync(
    join(folder, "main.ts"),
    `import { loadModel } from "gpt2-wasm";
     import { Gpt2Writer } from "gpt2-wasm/element";
     import "gpt2-wasm/element/bundle";
     import { define } from "gpt2-wasm/element/classes";
     import { completions } from "gpt2-wasm/openai";
     import { showInside } from "gpt2-wasm/figures";
     export const threads: Promise<number> = loadModel("m").then((model) => model.info.threads);
     export { Gpt2Writer, completions, define, showInside };`,
  );
  const options = ["--noEmit", "--strict", "--target", "es2022", "--lib", "es2022,dom,dom.iterable"];
  const old = ["--module", "esnext", "--moduleResolution", "node10", "--skipLibCheck"];
  run(folder, bin("tsc"), ...options, ...old, "main.ts");
});

test("the types need no library DOM, and without it still refuse options of a wrong type", () => {
  const folder = makeApp("import-map");
  const call = (options: string) => `void loadModel("m", { ${options} });`;
  const wrong = ["headers: 5", 'credentials: "x"', "fetch: 5"].map(
    (each) => `// @ts-expect-error\n${call(each)}`,
  );
  const lines = ['import { loadModel } from "gpt2-wasm";', call('headers: { a: "b" }, fetch'), ...wrong];
  writeFileSync(join(folder, "main.ts"), lines.join("\n"));
  const options = ["--noEmit", "--strict", "--target", "es2022", "--lib", "es2022", "--types", "node"];
  run(folder, bin("tsc"), ...options, "--module", "esnext", "--moduleResolution", "bundler", "main.ts");
});

const inNode = (type: string, code: string) =>
  run(makeApp("import-map"), process.execPath, `--input-type=${type}`, "--no-warnings", "-e", code).trim();

test("importing the module in Node, as a rendering server does, has no effect and does not fail", () => {
  const code = `
    const before = Object.keys(globalThis).join();
    const { InvalidArgumentError, loadModel, LoadError } = await import("gpt2-wasm");
    await import("gpt2-wasm/element");
    const { completions } = await import("gpt2-wasm/openai");
    const invalid = await completions({}).create({ prompt: "Once", max_tokens: -2 }).catch((error) => error);
    if (!(invalid instanceof InvalidArgumentError)) throw invalid; // one class for all entries
    await import("gpt2-wasm/figures");
    const { default: { version } } = await import("gpt2-wasm/package.json", { with: { type: "json" } });
    const found = ["worker", "isolate", "engine/gpt2-simd.wasm", "engine/gpt2-threads.js"].map((path) =>
      import.meta.resolve("gpt2-wasm/" + path).split("/").at(-1));
    const { explainEnvironment } = await import("gpt2-wasm");
    const forBrowsers = await import(import.meta.resolve("gpt2-wasm/worker").replace("-worker.js", ".js"));
    const refusal = await forBrowsers.loadModel("m").catch(({ code, message }) => code + ": " + message);
    if (!refusal.startsWith("unsupported: this module is for browsers")) throw refusal;
    if (!(await explainEnvironment()).threads.has) throw "no threads";
    console.log(typeof loadModel, typeof LoadError, version, before === Object.keys(globalThis).join(), found.join());`;
  const files = "gpt2-worker.js,isolate.js,gpt2-simd.wasm,gpt2-threads.js";
  expect(inNode("module", code)).toBe(`function function 0.1.0 true ${files}`);
});

test("CommonJS can require the module", () => {
  const code = `console.log(typeof require("gpt2-wasm").loadModel, typeof require("gpt2-wasm/element").Gpt2Writer)`;
  expect(inNode("commonjs", code)).toBe("function function");
});

test("each framework has a subpath, with types for node10, too", () => {
  const { exports, typesVersions } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const subpaths = frameworkNames.map((name) => `element/${name}`);
  expect(Object.keys(exports)).toEqual(expect.arrayContaining(subpaths.map((path) => `./${path}`)));
  expect(Object.keys(typesVersions["*"])).toEqual(expect.arrayContaining(subpaths));
});
