// What a visitor downloads before any weights. It is measured here, where the build always comes first.
import { readdirSync } from "node:fs";
import { resolve } from "node:path";
import { expect, test } from "@playwright/test";
import { downloadBytes, gzipBytes } from "../../web/scripts/download-size.mjs";

// A twentieth of the smallest peer's (`npm run bench:peers`) and 11 kB more, for exceptions.
for (const variant of ["simd", "simd-relaxed", "threads", "threads-relaxed"]) {
  test(`${variant} and what loads it are at most 130 kB of gzip`, () => {
    expect(downloadBytes(variant)).toBeLessThan(130_000);
  });
}

// What stands in an embedder's own bundle: the module, and the elements on top of it.
for (const [file, most] of [
  ["gpt2.js", 8000],
  ["gpt2-element.js", 6000],
] as const) {
  test(`${file} is at most ${most / 1000} kB of gzip`, () => {
    expect(gzipBytes(file)).toBeLessThanOrEqual(most);
  });
}

test("what the page's first paint needs is at most 30 kB of gzip; the editor comes after it", () => {
  const assets = readdirSync(resolve(import.meta.dirname, "../../web/dist/assets"));
  const first = assets.filter((name) => name.startsWith("index-"));
  expect(first.map((name) => name.replace(/^.*\./, "")).sort()).toEqual(["css", "js"]);
  const files = ["index.html", "gpt2.js", ...first.map((name) => `assets/${name}`)];
  expect(files.reduce((sum, file) => sum + gzipBytes(file), 0)).toBeLessThanOrEqual(30_000);
});

test("weights are sent as they are: packing them costs half a second and saves nothing", async ({
  request,
}) => {
  const piece = await request.get("models/demo/model.safetensors.001", {
    headers: { "Accept-Encoding": "gzip" },
  });
  expect(piece.headers()["content-encoding"]).toBeUndefined();
  expect(Number(piece.headers()["content-length"])).toBe((await piece.body()).length);
});
