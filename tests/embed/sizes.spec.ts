// The bytes of the package that a visitor loads: writes the table of docs/reference/browsers.md.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { test } from "@playwright/test";
import { variants } from "../../web/src/shared/types.js";
import { makeApp } from "./app.js";
import { checkTable } from "./written-table.js";

/** Files that are loaded together, and when. */
const loads: readonly (readonly [files: readonly string[], when: string])[] = [
  [["gpt2.js"], "with the app"],
  [["gpt2-element.js", "gpt2-element-classes.js"], "with an app that has the elements, beside `gpt2.js`"],
  [["gpt2-cache.js"], "beside a model's first files, unless `cache` is false"],
  [
    ["gpt2-page-sources.js", "gpt2-sources.js"],
    "for a model from a hub or from files, or with your own `fetch`",
  ],
  [["gpt2-convert.js"], "to convert a model while it is read, or to read its `tokenizer.json`"],
  [["gpt2-languages.js"], "for a tokenizer with other rules than GPT-2's"],
  [["gpt2-environment.js"], "on first use"],
  [["gpt2-fill.js"], "when `fill` is called"],
  [["gpt2-causes.js"], "for `heads`, `patchMap`, `attribute`, `neighbours`, `embed` and `steer`"],
  [["gpt2-figures.js"], "with an app that shows figures"],
  [["gpt2-inspect.js"], "for `inspect` and `change`"],
  [["gpt2-isolate.js"], "when `isolate` is called"],
  [["gpt2-sha256.js"], "on pages outside a secure context"],
  [["gpt2-fallback.js", "gpt2-inlined.js"], "where a bundler did not copy the worker"],
  [["gpt2.bundle.js"], "if you import the module as one file, with all four engines"],
  [["gpt2-element.bundle.js"], "if you import the elements as one file, with all four engines"],
];

const kilobytes = (bytes: number) => `${Math.ceil(bytes / 1000)} kB`;
/** A difference of a few bytes does not change the document. */
function isAboutSame(before: string, now: string): boolean {
  const size = /\d+(?= kB)/g;
  const sizes = (now.match(size) ?? []).map(Number);
  return (
    before.replace(size, "") === now.replace(size, "") &&
    (before.match(size) ?? []).every(
      (old, i) => Math.abs(Number(old) - (sizes[i] ?? NaN)) <= Math.max(1, 0.03 * Number(old)),
    )
  );
}

test("docs/reference/browsers.md states the size of each form", () => {
  const folder = join(makeApp("import-map"), "node_modules/gpt2-wasm/build/package");
  const sizesOf = (files: readonly string[]) => {
    const contents = files.map((file) => readFileSync(join(folder, file)));
    const sum = (sizes: number[]) => sizes.reduce((all, size) => all + size, 0);
    return [
      sum(contents.map(({ length }) => length)),
      sum(contents.map((bytes) => gzipSync(bytes, { level: 9 }).length)),
    ] as const;
  };
  const row = (name: string, when: string, sizes: readonly number[]) => [name, when, ...sizes.map(kilobytes)];
  const engines = variants.map((variant) =>
    sizesOf(["gpt2-worker.js", `engine/gpt2-${variant}.js`, `engine/gpt2-${variant}.wasm`]),
  );
  const largest = engines.reduce((most, sizes) => (sizes[1] > most[1] ? sizes : most));
  const [module = [], ...others] = loads.map(([files, when]) =>
    row(files.map((file) => `\`${file}\``).join(", "), when, sizesOf(files)),
  );
  const head = ["file", "loaded", "size", "gzip"];
  const worker = row("`gpt2-worker.js`, and the largest engine", "with the first model", largest);
  checkTable("docs/reference/browsers.md", "sizes", [head, module, worker, ...others], isAboutSame);
});
