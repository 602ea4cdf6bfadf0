// Machines without apt (macOS, Fedora): installed programs are found, and each missing one is named with the line that installs it.
import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join, resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { findEmscripten } from "../../engine/toolchain/emscripten.mjs";
import { missingWithoutApt, wasmPackages } from "../../engine/toolchain/system-packages.mjs";

/** A folder with programs that do nothing. */
function programs(...names: string[]): string {
  const folder = mkdtempSync(join(tmpdir(), "gpt2-programs-"));
  for (const name of names) {
    writeFileSync(join(folder, name), "#!/bin/sh\nexit 1\n");
    chmodSync(join(folder, name), 0o755);
  }
  return folder;
}

/** A folder with the headers `names`. */
function headers(...names: string[]): string {
  const folder = mkdtempSync(join(tmpdir(), "gpt2-headers-"));
  for (const name of names) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), "");
  }
  return folder;
}

/** A folder like that of Emscripten `version`. */
function emscripten(version: string, folder = mkdtempSync(join(tmpdir(), "gpt2-emscripten-"))): string {
  mkdirSync(folder, { recursive: true });
  for (const name of ["emcc", "emcc.py"]) writeFileSync(join(folder, name), "");
  writeFileSync(join(folder, "emscripten-version.txt"), `"${version}"\n`);
  return folder;
}

describe("missing programs", () => {
  it("no program is missing if all are installed", () => {
    const where = { path: programs("cmake", "ninja"), includes: [headers("nlohmann/json.hpp")] };
    expect(missingWithoutApt(wasmPackages, where)).toBeUndefined();
  });

  it("Homebrew installs a missing program on macOS", () => {
    const path = [programs("brew"), programs("cmake")].join(delimiter);
    expect(missingWithoutApt(wasmPackages, { path, includes: [] })).toBe(
      "missing: ninja, nlohmann/json.hpp; this system has no apt-get; run: brew install ninja nlohmann-json",
    );
  });

  it("dnf installs a missing program on Fedora", () => {
    const where = { path: programs("dnf"), includes: [headers("nlohmann/json.hpp")] };
    expect(missingWithoutApt(wasmPackages, where)).toBe(
      "missing: cmake, ninja; this system has no apt-get; run: sudo dnf install cmake ninja-build",
    );
  });

  it("a missing program is named if the system or the package is unknown", () => {
    expect(missingWithoutApt(["cmake"], { path: "" })).toContain(
      "install them with your system's package manager",
    );
    const where = { path: programs("brew", "cmake") };
    expect(missingWithoutApt(["cmake", "firefox-esr"], where)).toContain(
      "missing: Debian's package firefox-esr;",
    );
  });
});

describe("an installed Emscripten", () => {
  it("an installed Emscripten is found in EMSDK", () => {
    const sdk = mkdtempSync(join(tmpdir(), "gpt2-emsdk-"));
    const root = emscripten("4.0.10", join(sdk, "upstream/emscripten"));
    expect(findEmscripten({ EMSDK: sdk })).toEqual({ found: { root, version: "4.0.10" }, problems: [] });
  });

  it("an installed Emscripten is found by emcc on PATH, also by a link to it", () => {
    const root = emscripten("3.1.69");
    expect(findEmscripten({ PATH: root }).found?.root).toBe(root);
    const bin = mkdtempSync(join(tmpdir(), "gpt2-bin-"));
    symlinkSync(join(root, "emcc"), join(bin, "emcc"));
    expect(findEmscripten({ PATH: bin }).found?.root).toBe(root);
  });

  it("an installed Emscripten that is too old is skipped with a message", () => {
    const root = emscripten("3.1.6");
    const { found, problems } = findEmscripten({ PATH: root, EMSDK: "/nowhere" });
    expect(found?.root).not.toBe(root); // the system may have another
    expect(problems).toContain(`${root} has version 3.1.6, expected 3.1.69 or newer`);
  });
});

it("the build without apt prints the commands to run, and runs none of them", () => {
  const script = resolve(import.meta.dirname, "../../engine/toolchain/build.mjs");
  const { status, stderr } = spawnSync(process.execPath, [script, "wasm"], {
    encoding: "utf8",
    env: { PATH: programs("dnf") },
  });
  expect(status).toBe(1);
  expect(stderr).toMatch(/^missing: cmake, ninja.*run: sudo dnf install cmake ninja-build/m);
});
