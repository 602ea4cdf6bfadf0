// The output of `npm run release -- --dry-run`: the tarball for npm, and the site for GitHub Pages.
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, test } from "@playwright/test";

const root = resolve(import.meta.dirname, "../..");
const release = join(root, "build/release");
const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
const tarball = join(release, `gpt2-wasm-${version}.tgz`);
const inTarball = (...args: string[]) => execFileSync("tar", args, { encoding: "utf8" });

test("the tarball names the repository, and contains no other file of the checkout", () => {
  const manifest = JSON.parse(inTarball("-xzOf", tarball, "package/package.json"));
  expect(manifest.repository.url).toBe("git+https://github.com/example/gpt2.git");
  expect(manifest.homepage).toBe("https://github.com/example/gpt2#readme");
  expect(manifest.bugs).toBe("https://github.com/example/gpt2/issues");
  expect(manifest).not.toHaveProperty("devDependencies");
  expect(manifest).not.toHaveProperty("scripts");
  const shipped = /^package\/(build\/package\/|LICENSE|README\.md|package\.json)/;
  const names = inTarball("-tzf", tarball).trim().split("\n");
  expect(names.filter((name) => !shipped.test(name))).toEqual([]);
});

test("package and page contain the notices of every library in their source maps", () => {
  const notices = inTarball("-xzOf", tarball, "package/build/package/THIRD-PARTY.txt");
  const folder = join(root, "build/package");
  const sources = readdirSync(folder)
    .filter((file) => file.endsWith(".js.map"))
    .flatMap((file) => JSON.parse(readFileSync(join(folder, file), "utf8")).sources as string[]);
  const packages = new Set(
    sources.flatMap((path) => /node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1] ?? []),
  );
  expect(packages.size).toBeGreaterThan(0);
  const page = readFileSync(join(release, "site/THIRD-PARTY.txt"), "utf8");
  const both = [...packages, "nlohmann/json", "musl"].map((name) => `- ${name} `);
  const onPage = ["@codemirror/view", "d3-shape", "workbox-precaching"].map((name) => `- ${name} `);
  expect(both.filter((name) => !notices.includes(name))).toEqual([]);
  expect([...both, ...onPage].filter((name) => !page.includes(name))).toEqual([]);
});

test("the built site contains the page, and the documentation in docs/", () => {
  for (const file of ["index.html", "gpt2.js", "docs/index.html", "docs/gpt2/gpt2.js"])
    expect(existsSync(join(release, "site", file)), file).toBe(true);
});

test("a tag that differs from the version is refused", () => {
  const env = { ...process.env, GITHUB_REF_TYPE: "tag", GITHUB_REF_NAME: "v99.0.0" };
  const args = ["web/scripts/publish.mjs", "--dry-run", "--built"];
  const { status, stderr } = spawnSync(process.execPath, args, { cwd: root, env, encoding: "utf8" });
  expect(status).toBe(1);
  expect(stderr).toContain(
    `the tag is "v99.0.0", but package.json has the version ${version}: expected "v${version}"`,
  );
});
