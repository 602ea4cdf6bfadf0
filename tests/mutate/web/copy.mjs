// A copy of web/src with StrykerJS's faults in it, each behind a switch, and of the tests beside it.
import { cpSync, mkdirSync, readFileSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { Instrumenter } from "@stryker-mutator/instrumenter";

const silent = /** @type {any} */ ({
  isDebugEnabled: () => false,
  debug() {},
  info() {},
  warn: console.warn,
});

/** The folders that are copied. Everything else in the root is linked. */
const copied = ["web", "tests"];

/**
 * Makes the copy in `folder`, with faults in the files of web/src that begin with one of `only`.
 * @param {string} root
 * @param {string} folder
 * @param {string[]} only
 */
export async function makeCopy(root, folder, only) {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  for (const name of readdirSync(root)) {
    const from = join(root, name);
    if (name === ".git") continue;
    if (!copied.includes(name)) symlinkSync(from, join(folder, name));
    else
      cpSync(from, join(folder, name), {
        recursive: true,
        filter: (path) => !/^(web\/(dist|models)|tests\/data)$/.test(relative(root, path)),
      });
  }
  symlinkSync(join(root, "tests/data"), join(folder, "tests/data"));
  const names = readdirSync(join(root, "web/src"), { recursive: true, encoding: "utf8" })
    .map((name) => `web/src/${name}`)
    .filter((name) => name.endsWith(".ts") && !name.endsWith(".d.ts"))
    .filter((name) => only.some((start) => name.startsWith(start)));
  const sources = names.map((name) => ({
    name,
    mutate: true,
    content: readFileSync(join(root, name), "utf8"),
  }));
  const { files, mutants } = await new Instrumenter(silent).instrument(sources, {
    plugins: null,
    excludedMutations: [],
    ignorers: [],
  });
  for (const { name, content } of files) writeFileSync(join(folder, name), content);
  return mutants.filter(({ status }) => status !== "Ignored"); // by a comment that gives the reason
}
