// An Emscripten other than the one that made the figures is used, and named.
import { spawnSync } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { expect, it } from "vitest";
import { measuredVersion } from "../../engine/toolchain/emscripten.mjs";
import { found } from "../repository/files.js";

const toolchain = resolve(import.meta.dirname, "../../engine/toolchain");

/** The script's output in a separate checkout, with Emscripten `version` on PATH. */
function outputWith(version: string): string {
  const folder = mkdtempSync(join(tmpdir(), "gpt2-emscripten-"));
  const scripts = join(folder, "engine/toolchain");
  mkdirSync(scripts, { recursive: true });
  for (const file of ["emscripten.mjs", "system-packages.mjs"])
    copyFileSync(join(toolchain, file), join(scripts, file));
  const root = join(folder, "emsdk");
  mkdirSync(root);
  for (const [name, text] of Object.entries({
    emcc: "",
    "emcc.py": "",
    "emscripten-version.txt": `"${version}"\n`,
  }))
    writeFileSync(join(root, name), text);
  const env = { ...process.env, PATH: `${root}:${process.env.PATH ?? ""}`, EMSDK: "" };
  const { stderr } = spawnSync(process.execPath, [join(scripts, "emscripten.mjs")], {
    env,
    encoding: "utf8",
  });
  return stderr;
}

it("an Emscripten version other than the one of the figures is reported", () => {
  const output = outputWith("4.0.1");
  expect(output).toContain("using 4.0.1");
  expect(output).toContain(
    `4.0.1 is not ${measuredVersion}, with which the published sizes and speeds were measured`,
  );
});

it("the Emscripten version of the figures is used without a message", () => {
  expect(outputWith(measuredVersion)).not.toContain("is not");
});

it("CONTRIBUTING.md names the Emscripten version of the figures", () => {
  expect(
    found("CONTRIBUTING.md", /sizes and speeds in the documents with Emscripten (\d+\.\d+\.\d+)\./),
  ).toBe(measuredVersion);
});
