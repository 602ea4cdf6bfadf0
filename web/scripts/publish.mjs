// `npm run release`: checks the version, builds package, page and documentation, packs what npm publishes, and publishes it.
// `-- --dry-run` does everything except the upload. `--built` uses what is built already.
import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";

const root = resolve(import.meta.dirname, "../..");
const out = join(root, "build/release");

/**
 * The part of CHANGELOG.md for a version.
 * @param {string} changelog
 * @param {string} version
 */
export function notesOf(changelog, version) {
  const section = changelog.split(/^## /m).find((part) => part.split(/[\s:,]/, 1)[0] === version);
  if (section === undefined) throw new Error(`CHANGELOG.md has no heading "## ${version}": add it`);
  return section;
}

/**
 * The published package.json: with the addresses of the repository, and without what only a checkout needs.
 * @param {Record<string, unknown>} manifest
 * @param {string | undefined} repository "owner/name" on GitHub.
 */
export function publishedManifest({ scripts, devDependencies, overrides, ...rest }, repository) {
  if (repository === undefined) return rest;
  if (!/^[\w.-]+\/[\w.-]+$/.test(repository))
    throw new Error(`GITHUB_REPOSITORY is "${repository}", expected "owner/name"`);
  const address = `https://github.com/${repository}`;
  return {
    ...rest,
    homepage: `${address}#readme`,
    repository: { type: "git", url: `git+${address}.git` },
    bugs: `${address}/issues`,
  };
}

/** Copies the files that npm publishes. @param {Record<string, unknown>} manifest */
function stage(manifest) {
  const folder = join(out, "package");
  rmSync(out, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  for (const path of [.../** @type {string[]} */ (manifest.files), "README.md", "LICENSE"])
    cpSync(join(root, path), join(folder, path), { recursive: true, dereference: true });
  writeFileSync(join(folder, "package.json"), `${JSON.stringify(manifest, null, 2)}\n`);
  return folder;
}

/** @param {string} program @param {string[]} args */
function show(program, ...args) {
  const { status } = spawnSync(program, args, { cwd: root, stdio: ["ignore", 2, 2] });
  if (status !== 0) throw new Error(`${program} ${args.join(" ")} failed`);
}

/** @param {string[]} args */
function readArguments(args) {
  const options = /** @type {const} */ ({ "dry-run": { type: "boolean" }, built: { type: "boolean" } });
  return parseArgs({ args, options }).values;
}

function main() {
  const { "dry-run": isDryRun = false, built = false } = readArguments(process.argv.slice(2));
  const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const { version } = manifest;
  const { GITHUB_REPOSITORY: repository, GITHUB_REF_TYPE: type, GITHUB_REF_NAME: name } = process.env;
  if (type === "tag" && name !== `v${version}`)
    throw new Error(
      `the tag is "${name}", but package.json has the version ${version}: expected "v${version}"`,
    );
  notesOf(readFileSync(join(root, "CHANGELOG.md"), "utf8"), version);
  // On GitHub Pages the site is below the repository's name.
  const base = repository ? `/${repository.split("/")[1]}/docs/` : "/docs/";
  const published = publishedManifest(manifest, repository);
  if (!built) {
    show("npm", "run", "build");
    show("npm", "run", "docs:build", "--", "--built", "--base", base);
  }
  for (const needed of ["build/package/gpt2.js", "web/dist/index.html", "build/docs/index.html"])
    if (!existsSync(join(root, needed))) throw new Error(`${needed} is not built: run without --built`);
  const folder = stage(published);
  show("npx", "publint", "--strict", folder);
  const pack = ["pack", folder, "--json", "--ignore-scripts", "--pack-destination", out];
  const [{ filename, size, entryCount }] = JSON.parse(
    execFileSync("npm", pack, { cwd: root, encoding: "utf8", stdio: ["ignore", "pipe", 2] }),
  );
  cpSync(join(root, "web/dist"), join(out, "site"), { recursive: true });
  cpSync(join(root, "build/docs"), join(out, "site/docs"), { recursive: true });
  const tarball = join(out, filename);
  console.log(`${tarball}: ${entryCount} files, ${(size / 1e6).toFixed(2)} MB`);
  console.log(`${join(out, "site")}: the page, and the documentation in docs/`);
  if (isDryRun) return console.log("dry run: nothing is published");
  show("npm", "publish", tarball, "--provenance", "--access", "public", "--ignore-scripts");
}

if (process.argv[1] === import.meta.filename) {
  try {
    main();
  } catch (error) {
    console.error(error.message);
    process.exit(1);
  }
}
