// The programs that the build needs: installed ones are found, also without apt (macOS, Fedora), and missing ones are named.
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { expect, it } from "vitest";
import { findEmscripten, measuredVersion } from "../../engine/toolchain/emscripten.mjs";
import { missingWithoutApt, wasmPackages } from "../../engine/toolchain/system-packages.mjs";
import { found } from "../repository/files.js";

const toolchain = resolve(import.meta.dirname, "../../engine/toolchain");

/** A folder with these files, which are programs that fail. */
function folderOf(...names: string[]): string {
  const folder = mkdtempSync(join(tmpdir(), "gpt2-programs-"));
  for (const name of names) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), "#!/bin/sh\nexit 1\n", { mode: 0o755 });
  }
  return folder;
}

/** A folder with Emscripten `version` at `path`. */
function emscripten(version: string, path = ""): string {
  const root = join(folderOf(...["emcc", "emcc.py"].map((name) => join(path, name))), path);
  writeFileSync(join(root, "emscripten-version.txt"), `"${version}"\n`);
  return root;
}

const json = folderOf("nlohmann/json.hpp");
const noApt = "this system has no apt-get";
it.each([
  [wasmPackages, ["cmake", "ninja"], [json], undefined],
  [
    wasmPackages,
    ["brew", "cmake"],
    [],
    `missing: ninja, nlohmann/json.hpp; ${noApt}; run: brew install ninja nlohmann-json`,
  ],
  [wasmPackages, ["dnf"], [json], `missing: cmake, ninja; ${noApt}; run: sudo dnf install cmake ninja-build`],
  [["cmake"], [], [], `missing: cmake; ${noApt}; install them with your system's package manager`],
  [
    ["cmake", "firefox-esr"],
    ["brew", "cmake"],
    [],
    `missing: Debian's package firefox-esr; ${noApt}; install them with your system's package manager`,
  ],
])("of %j, a system with the programs %j names what is missing", (wanted, programs, includes, message) => {
  expect(missingWithoutApt(wanted, { path: folderOf(...programs), includes })).toBe(message);
});

it("an installed Emscripten is found in EMSDK, and by emcc on PATH, also by a link to it", () => {
  const ofSdk = emscripten("4.0.10", "upstream/emscripten");
  const found = { root: ofSdk, version: "4.0.10" };
  expect(findEmscripten({ EMSDK: join(ofSdk, "../..") })).toEqual({ found, problems: [] });
  const root = emscripten("3.1.69");
  expect(findEmscripten({ PATH: root }).found?.root).toBe(root);
  const bin = folderOf();
  symlinkSync(join(root, "emcc"), join(bin, "emcc"));
  expect(findEmscripten({ PATH: bin }).found?.root).toBe(root);
});

it("an installed Emscripten that is too old is skipped with a message", () => {
  const root = emscripten("3.1.6");
  const { found: other, problems } = findEmscripten({ PATH: root, EMSDK: "/nowhere" });
  expect(other?.root).not.toBe(root); // the system may have another
  expect(problems).toContain(`${root} has version 3.1.6, expected 3.1.69 or newer`);
});

it("the build without apt prints the commands to run, and runs none of them", () => {
  const { status, stderr } = spawnSync(process.execPath, [join(toolchain, "build.mjs"), "wasm"], {
    encoding: "utf8",
    env: { PATH: folderOf("dnf") },
  });
  expect(status).toBe(1);
  expect(stderr).toMatch(/^missing: cmake, ninja.*run: sudo dnf install cmake ninja-build/m);
});

it.each(["4.0.1", measuredVersion])(
  "Emscripten %s is used, with a notice if it is not the measured one",
  (version) => {
    const checkout = folderOf();
    cpSync(toolchain, join(checkout, "engine/toolchain"), { recursive: true });
    const { stderr } = spawnSync(process.execPath, [join(checkout, "engine/toolchain/emscripten.mjs")], {
      encoding: "utf8",
      env: { ...process.env, PATH: `${emscripten(version)}:${process.env.PATH ?? ""}`, EMSDK: "" },
    });
    expect(stderr).toContain(`using ${version}`);
    const notice = `4.0.1 is not ${measuredVersion}, with which the published sizes and speeds were measured`;
    if (version === measuredVersion) expect(stderr).not.toContain("is not");
    else expect(stderr).toContain(notice);
  },
);

it("CONTRIBUTING.md names the version of Emscripten that made the published figures", () => {
  const pattern = /sizes and speeds in the documents with Emscripten (\d+\.\d+\.\d+)\./;
  expect(found("CONTRIBUTING.md", pattern)).toBe(measuredVersion);
});
