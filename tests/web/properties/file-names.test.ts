// No name of a file leads out of its folder, neither as an address nor as a path on disk.
import { posix, win32 } from "node:path";
import { expect, it } from "vitest";
import { fileAddress, problemOfFileName } from "../../../web/src/shared/file-names.mjs";
import { textOf } from "./any-text.js";
import { property } from "./property.js";

const folder = "https://hub.example/a/b/resolve/main/";
const pieces = [..."..|.|/|\\|:|%2e|%2f|%00|?|#|@|https:|C:|a".split("|"), " ", "\t", "\0", "\n"];

property(
  "a name of a file has a problem, or an address and a path inside its folder",
  textOf(pieces),
  (name) => {
    if (problemOfFileName(name) !== undefined) {
      expect(() => fileAddress(folder, name)).toThrow(RangeError);
      return;
    }
    expect(decodeURIComponent(new URL(fileAddress(folder, name)).href)).toBe(folder + name);
    for (const system of [posix, win32]) {
      const base = system.resolve("/out");
      expect(system.resolve(base, name).startsWith(base + system.sep)).toBe(true);
    }
  },
);

it.each([
  ["model.safetensors", "model.safetensors"],
  ["onnx/model q8.gguf", "onnx/model%20q8.gguf"],
  ["a?b#c%2e%2e.gguf", "a%3Fb%23c%252e%252e.gguf"],
  ["modèle.gguf", "mod%C3%A8le.gguf"],
  ["..a/b..", "..a/b.."],
])("fileAddress encodes each part of %j", (name, encoded) => {
  expect(fileAddress(folder, name)).toBe(folder + encoded);
});

const outside = ["..", "a/../../x", ".. /x", "/x", "http://other.example/x", "C:x", "a\\..\\x"];
const empty = ["", ".", "a//x"];
const unseen = ["a\0b", "a\nb", "a\u001b[2Jb", "a\u009bb", "a\u202eb", "a\u2066b", "\ufeffx", "a\ud800b"];
it.each([...outside, ...empty, ...unseen, "x".repeat(1025)])("fileAddress refuses %j", (name) => {
  expect(problemOfFileName(name)).toBeTypeOf("string");
  expect(() => fileAddress(folder, name)).toThrow(RangeError);
});
