// No text from outside controls the terminal to which `gpt2-weights` writes.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { folderOf, scratch, shell, tiedFiles, weights } from "./tool.js";

// eslint-disable-next-line no-control-regex -- no terminal may receive these characters
const steering = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/;
/** An escape sequence, the same in one character, a mark that reorders a line, and a line break. */
const nasty = "a\u001b[2J\u009b2J\u202eb\nc";

const merges = { "merges.txt": "#version: 0.2\n" };

it.each([
  [nasty],
  ["inspect", nasty],
  ["inspect", `--${nasty}`],
  ["inspect", "x", nasty],
  ["generate", "x", "--prompt", "a", "--temperature", nasty],
  ["convert", "x", "y", "--weights", nasty],
])("arguments in an error are shown as escapes: %j", (...args) => {
  const { status, stdout, stderr } = weights(args);
  expect(status).not.toBe(0);
  expect(stdout).toBe("");
  expect(stderr).toMatch(/^[^\n]+\n(Run with --help for more information\.\n)?$/);
  expect(steering.test(stderr)).toBe(false);
});

it("the name of a folder is shown with escapes, and as the same JSON", () => {
  const folder = folderOf(tiedFiles(), nasty);
  for (const args of [
    ["inspect", folder],
    ["inspect", folder, "--original", folder],
    ["convert", folder, `${folder}-q8`],
  ]) {
    const { status, stdout, stderr } = weights(args);
    expect([status, steering.test(stdout + stderr)]).toEqual([0, false]);
  }
  const { stdout } = weights(["inspect", folder, "--json"]);
  expect(steering.test(stdout)).toBe(false);
  expect((JSON.parse(stdout) as { model: string }).model).toBe(folder);
});

it.each([
  ["config.json", JSON.stringify({ model_type: nasty })],
  ["config.json", `{"${nasty.replace("\n", "\\n")}`],
  ["generation_config.json", JSON.stringify({ temperature: nasty })],
  ["vocab.json", JSON.stringify({ [nasty]: 1e9 })],
  ["weights.json", JSON.stringify({ file: nasty, size: 1, sha256: "" })],
])("the output of %s is shown with escapes", (name, text) => {
  const { status, stderr } = weights(["inspect", folderOf({ ...tiedFiles(), ...merges, [name]: text })]);
  expect([status, stderr]).toEqual([1, expect.stringMatching(/^gpt2-weights: [^\n]+\n$/)]);
  expect(steering.test(stderr)).toBe(false);
});

it("bytes that are not UTF-8 are replaced", () => {
  const { stderr } = shell(`"$tool" inspect "$(printf 'a\\x9b2J\\xff')"`);
  expect(stderr).toContain("a\ufffd2J\ufffd");
});

it("a model's text is written unchanged to a file, and with escapes to a terminal", () => {
  const escape = "\u011b"; // the character for byte 0x1b in vocab.json
  const tokens = Array.from({ length: 160 }, (_, id) => [escape + "[" + "x".repeat(id), id]);
  folderOf({ ...tiedFiles(), ...merges, "vocab.json": JSON.stringify(Object.fromEntries(tokens)) }, "writes");
  const command = `"$tool" generate "$scratch/writes" --ids 1 --max-new-tokens 2 --temperature 0`;
  expect(shell(command).stdout).toContain("\u001b[x");
  const seen = join(scratch, "typescript");
  shell(`script -qec '${command}' ${seen} < /dev/null`);
  const terminal = readFileSync(seen, "utf8");
  expect(terminal).toContain("\\u001b[x");
  expect(terminal.replaceAll("\u001b[K", "")).not.toContain("\u001b");
});
