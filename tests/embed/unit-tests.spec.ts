// A site's own checks, with the elements in it: types in five frameworks, and unit tests in jsdom and happy-dom. Part of
// `npm run test:embed`.
import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "@playwright/test";
import { makeApp, packageJson, run } from "./app.js";
import { frameworkNames } from "../../web/scripts/framework-types.mjs";

test.describe.configure({ timeout: 300_000 }); // they are installed first

/** The output of a checker, and whether it found a problem. */
function check(folder: string, program: string, ...args: string[]) {
  const { status, stdout } = spawnSync(join(folder, "node_modules/.bin", program), args, {
    cwd: folder,
    encoding: "utf8",
  });
  return { status, stdout };
}

test("the elements have types for React, Preact, Solid, Svelte and Vue, which reject a wrong attribute", () => {
  const folder = makeApp("typed-elements", true);
  run(folder, "npm", "run", "check");
  const files = ["react.tsx", "preact.tsx", "solid.tsx", "Story.svelte", "Story.vue"];
  for (const name of files) {
    const file = join(folder, name);
    writeFileSync(file, readFileSync(file, "utf8").replace('rows="6"', 'rows="many"'));
  }
  const { stdout } = check(folder, "vue-tsc"); // reads .tsx, too
  const svelte = check(folder, "svelte-check", "--tsconfig", "tsconfig.json", "--output", "machine");
  for (const name of files) {
    const said = name.endsWith(".svelte") ? svelte.stdout : stdout;
    expect(said).toMatch(new RegExp(`${name}.*many`));
  }
});

test("each framework has a subpath, with types for node10, too", () => {
  const { exports, typesVersions } = packageJson();
  const subpaths = (names: string[]) =>
    names.filter((name) => frameworkNames.some((framework) => name.endsWith(`element/${framework}`)));
  expect(subpaths(Object.keys(exports))).toEqual(frameworkNames.map((name) => `./element/${name}`));
  expect(subpaths(Object.keys(typesVersions["*"]))).toEqual(frameworkNames.map((name) => `element/${name}`));
});

test("the elements mount in jsdom and happy-dom under Jest and Vitest without effect", () => {
  const folder = makeApp("unit-tests", true);
  for (const script of ["jest", "vitest", "vitest:happy-dom"]) run(folder, "npm", "run", script); // exits with 1 if a test fails
});
