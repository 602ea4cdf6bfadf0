// Measures what a visitor downloads before any weights. These tests always run after a build.
import { readdirSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { expect, test } from "@playwright/test";
import { languages } from "../../web/page/language/languages.js";
import { downloadBytes, gzipBytes } from "../support/download-size.mjs";

// See the size of peers in `npm run bench -- peers`.
for (const [variant, most] of [
  ["simd", 156],
  ["simd-relaxed", 158],
  ["threads", 158],
  ["threads-relaxed", 160],
] as const) {
  test(`${variant} and its loader are at most ${most} kB in gzip`, () => {
    expect(downloadBytes(variant)).toBeLessThanOrEqual(most * 1000);
  });
}

// The code in a site's own bundle: the module, and in addition the elements.
for (const [file, most] of [
  ["gpt2.js", 10_600],
  ["gpt2-element-classes.js", 13_200],
] as const) {
  test(`${file} is at most ${most / 1000} kB in gzip`, () => {
    expect(gzipBytes(file)).toBeLessThanOrEqual(most);
  });
}

const assets = readdirSync(resolve(import.meta.dirname, "../../web/dist/assets"));
const html = readFileSync(resolve(import.meta.dirname, "../../web/dist/index.html"), "utf8");
const gzipOf = (files: readonly string[]) => files.reduce((sum, file) => sum + gzipBytes(file), 0);

test("the page's first paint needs at most 30.9 kB in gzip; the editor is loaded afterwards", () => {
  const first = assets.filter((name) => name.startsWith("index-"));
  expect(first.map((name) => name.replace(/^.*\./, "")).sort()).toEqual(["css", "js"]);
  const script = first.find((name) => name.endsWith(".js")) ?? "";
  const source = readFileSync(resolve(import.meta.dirname, "../../web/dist/assets", script), "utf8");
  expect(source).not.toMatch(/(?:from|import)\s*"\.\/[^"]+"/); // such imports would load before it runs
  const preloaded = [...html.matchAll(/"modulepreload" href="\.\/([^"]+)"/g)].map(([, file = ""]) => file);
  expect(preloaded).toEqual([expect.stringMatching(/^assets\/first-visit-/)]);
  const files = ["index.html", "gpt2.js", ...preloaded, ...first.map((name) => `assets/${name}`)];
  expect(gzipOf(files)).toBeLessThanOrEqual(30_900);
});

test("a language other than English adds at most 10.7 kB before the first paint", () => {
  const words = [...html.matchAll(/"([a-z]{2})":"\.\/(assets\/[^"]+\.js)"/g)].map(([, , file = ""]) => file);
  expect(words).toHaveLength(Object.keys(languages).length - 1);
  for (const file of words) expect(gzipOf([file]), file).toBeLessThanOrEqual(10_700);
});

test("weights are sent uncompressed: compressing costs half a second and saves nothing", async ({
  request,
}) => {
  const piece = await request.get("models/demo/model.safetensors.001", {
    headers: { "Accept-Encoding": "gzip" },
  });
  expect(piece.headers()["content-encoding"]).toBeUndefined();
  expect(Number(piece.headers()["content-length"])).toBe((await piece.body()).length);
});
