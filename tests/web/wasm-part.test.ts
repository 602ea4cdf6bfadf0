// A module of WebAssembly that is packed into a script.
import { expect, it } from "vitest";
import { hashedCode } from "../../web/scripts/hash-code.mjs";
import { pack } from "../../web/scripts/pack.mjs";
import { compilePart } from "../../web/src/model/wasm-part.js";
import { converterCode } from "./support/converter-code.js";

const packed = pack(hashedCode(converterCode));
const corrupt = { name: "LoadError", code: "corrupt", message: expect.stringContaining("part.js") as string };

it("a WebAssembly part is compiled unchanged", async () => {
  const module = await compilePart("part.js", packed);
  expect(WebAssembly.Module.exports(module).map(({ name }) => name)).toContain("gpt2_converter_create");
});

it.each([0, 0.25, 0.5, 0.75, 1])("a part with another character at %s is refused", async (share) => {
  const at = Math.floor((packed.length - 10) * share);
  const other = packed[at] === "a" ? "b" : "a";
  const changed = packed.slice(0, at) + other + packed.slice(at + 1);
  await expect(compilePart("part.js", changed)).rejects.toMatchObject(corrupt);
});

it("a WebAssembly part that is cut short or has no hash is refused", async () => {
  await expect(compilePart("part.js", packed.slice(0, -1000))).rejects.toMatchObject(corrupt);
  await expect(compilePart("part.js", pack(converterCode))).rejects.toMatchObject(corrupt);
});
