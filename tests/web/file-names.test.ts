import { expect, it } from "vitest";
import { fileAddress, problemOfFileName } from "../../web/src/shared/file-names.mjs";

const folder = "https://hub.example/a/b/resolve/main/";

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
