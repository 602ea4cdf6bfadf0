// The error for a file that should be JSON and is not.
import { expect, it } from "vitest";
import { parseJson } from "../../web/src/loader/parse-json.js";

it.each([
  ["", "config.json is not valid JSON: it is empty"],
  [" \n", "config.json is not valid JSON: it is empty"],
  ['{"a": [1, 2', "config.json is not valid JSON: it is cut off after 11 characters"],
  ["<p>Sign in</p>", 'config.json is not valid JSON: it begins with "<p>Sign in</p>" ('],
  ["no\n such file", 'config.json is not valid JSON: it begins with "no such file" ('],
  ["x".repeat(99), `config.json is not valid JSON: it begins with "${"x".repeat(40)}…" (`],
])("a stored text keeps the quotes in %j", (text, message) => {
  expect(() => parseJson(text, "config.json")).toThrow(
    expect.objectContaining({ code: "corrupt", message: expect.stringContaining(message) }),
  );
});
