// The notices for third-party code in the build: the packages from which a bundler took modules, and the engine's
// libraries.
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { join, resolve } from "node:path";

const root = resolve(import.meta.dirname, "../..");
export const noticesFile = "THIRD-PARTY.txt";

/** @param {string} module The address of a module, as bundlers write it. */
const packageFolderOf = (module) => /^\0?(.*\/node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(module)?.[1];

/**
 * Adds to `folders` the folder of each bundled package. A module of which nothing remains does not count.
 * @param {Set<string>} folders
 * @returns {Pick<import("rolldown").Plugin, "name" | "generateBundle">}
 */
export const collectPackages = (folders) => ({
  name: "collect-packages",
  generateBundle(_, files) {
    for (const file of Object.values(files)) {
      if (file.type !== "chunk") continue;
      for (const [id, module] of Object.entries(file.modules)) {
        const folder = module.renderedLength > 0 ? packageFolderOf(id) : undefined;
        if (folder) folders.add(folder);
      }
    }
  },
});

/** @typedef {{ name: string, version: string, license: string, text: string }} Notice */

/**
 * The notice of an npm package, with the text of its own file.
 * @param {string} folder
 * @returns {Notice}
 */
export function packageNotice(folder) {
  const { name, version, license, author } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const file = readdirSync(folder).find((each) => /^(licen[cs]e|copying)(\.\w+)?$/i.test(each));
  if (file === undefined && license === "MIT" && author?.name)
    return { name, version, license, text: mit(`Copyright (c) ${author.name}`) };
  if (file === undefined) throw new Error(`${folder} has no file with its licence`);
  return { name, version, license, text: readFileSync(join(folder, file), "utf8").trim() };
}

/** The first group of `pattern`, which must match. @param {string} text @param {RegExp} pattern @param {string} file */
function found(text, pattern, file) {
  const group = pattern.exec(text)?.[1];
  if (group === undefined) throw new Error(`${file} has no ${pattern}`);
  return group;
}

/** The MIT licence with the name of an author. @param {string} copyright */
function mit(copyright) {
  const own = readFileSync(join(root, "LICENSE"), "utf8");
  return own.replace(/^Copyright.*$/m, copyright).trim();
}

/**
 * The notices for the libraries of every engine: a JSON library, Emscripten's own code, its C library, and LLVM's
 * libraries.
 * @returns {Notice[]}
 */
export function engineNotices() {
  const json = join(root, "build/wasm/headers/nlohmann");
  const header = readFileSync(join(json, "json.hpp"), "utf8");
  const authors = new Set(
    readdirSync(json, { recursive: true, encoding: "utf8" })
      .filter((file) => file.endsWith(".hpp"))
      .flatMap((file) => [
        ...readFileSync(join(json, file), "utf8").matchAll(/SPDX-FileCopyrightText: (.*)/g),
      ])
      .map(([, author]) => `Copyright (c) ${author}`),
  );
  const { root: emscripten, version } = JSON.parse(
    readFileSync(join(root, ".cache/emscripten/emscripten.json"), "utf8"),
  );
  const musl = join(emscripten, "system/lib/libc/musl/COPYRIGHT");
  // emsdk has the text beside the sources, Debian in the package's folder.
  const llvm = [
    join(emscripten, "system/lib/libcxx/LICENSE.TXT"),
    join(emscripten, "../doc/emscripten/copyright"),
  ].find((file) => existsSync(file));
  return [
    {
      name: "nlohmann/json",
      version: found(header, /version ([\d.]+)/, "json.hpp"),
      license: "MIT",
      text: mit([...authors].join("\n")),
    },
    {
      name: "Emscripten's runtime",
      version,
      license: "MIT",
      text: mit("Copyright (c) 2010-2014 Emscripten authors, see AUTHORS file."),
    },
    { name: "musl", version, license: "MIT", text: readFileSync(musl, "utf8").trim() },
    {
      name: "libc++, libc++abi, compiler-rt",
      version,
      license: "Apache-2.0 WITH LLVM-exception",
      text: llvm ? readFileSync(llvm, "utf8").trim() : "https://llvm.org/LICENSE.txt",
    },
  ];
}

/**
 * The file of notices.
 * @param {Iterable<string>} folders Folders of npm packages.
 * @param {Notice[]} engine
 */
export function noticesText(folders, engine = engineNotices()) {
  const packages = [...new Set(folders)].map(packageNotice);
  const all = [...new Map([...engine, ...packages].map((notice) => [notice.name, notice])).values()];
  const list = all.map(({ name, version, license }) => `- ${name} ${version} (${license})`);
  const texts = all.map(({ name, version, text }) => `${"=".repeat(72)}\n${name} ${version}\n\n${text}\n`);
  return `This build contains code of others, under these licences:\n\n${list.join("\n")}\n\n${texts.join("\n")}`;
}

/**
 * The npm packages that a file of notices lists.
 * @param {string} text
 */
export const packagesIn = (text) =>
  [...text.matchAll(/^- (\S+) \S+ \(/gm)]
    .map(([, name = ""]) => join(root, "node_modules", name))
    .filter((folder) => existsSync(join(folder, "package.json")));
