// `npm run export`: its refusals, and the files that it writes.
import { createHash } from "node:crypto";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, expect, it } from "vitest";
import { composeOneFile, marker, modelFiles, pageEnding } from "../../web/page/parts/save-file/one-file.mjs";

const root = resolve(import.meta.dirname, "../..");
const folder = mkdtempSync(join(tmpdir(), "gpt2-export-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function run(...args: string[]): { status: number | null; stderr: string } {
  return spawnSync("node", ["web/scripts/export.mjs", ...args], { cwd: root, encoding: "utf8" });
}

const demo = "web/models/demo";

const output = ["-o", join(folder, "a.html")];
it.each([
  [[], 2, "--model is missing"],
  [["--model", demo], 2, "--output is missing"],
  [["--modell", demo], 2, "Unknown option '--modell'"],
  [["--model", "nowhere", ...output], 1, "--model nowhere: there is no such folder"],
  [["--model", "docs", ...output], 1, "--model docs is not a model folder: it has no config.json"],
])("the command refuses %j with a message", (args, status, sentence) => {
  const found = run(...args);
  expect(found.stderr).toContain(`export: ${sentence}`);
  expect(found.status).toBe(status);
});

it("the command replaces a file only if told to", () => {
  const file = join(folder, "there.html");
  writeFileSync(file, "mine");
  const found = run("--model", demo, "-o", file);
  expect(found.stderr).toContain(`export: --output ${file} already exists: --force replaces it`);
  expect(found.status).toBe(1);
  expect(readdirSync(folder)).toEqual(["there.html"]);
});

async function* chunks(...parts: (readonly number[])[]): AsyncGenerator<Uint8Array> {
  for (const part of parts) yield Uint8Array.from(part);
}

const sha256 = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex");
const start = `<a>${marker}<b>`;
const ending = pageEnding(sha256(Buffer.from(start)));

async function compose(
  files: ReturnType<typeof modelFiles>,
  contents: Record<string, () => AsyncGenerator<Uint8Array>>,
  page = start + ending,
) {
  let html = "";
  const open = async (name: string) => contents[name]?.();
  for await (const text of composeOneFile(page, files, open, sha256)) html += text;
  return html;
}

const hash = sha256(Uint8Array.of(1, 2, 3, 4));
const index = JSON.stringify({ size: 4, pieces: [{ path: "w.000", size: 4, sha256: hash }] });
const texts = { "config.json": () => chunks([123, 125]) };

it("the one-file page holds each file in base64 between the parts before and after the model", async () => {
  const html = await compose(modelFiles(index), { ...texts, "w.000": () => chunks([1, 2], [3], [], [4]) });
  expect(html).toBe(
    '<a><script type="text/plain" data-file="config.json">e30=</script>\n' +
      '<script type="text/plain" data-file="weights.json">' +
      `${Buffer.from(index).toString("base64")}</script>\n` +
      '<script type="text/plain" data-file="w.000">AQIDBA==</script>\n<b>' +
      ending,
  );
});

it("the one-file page holds the files that the index lists, and a tokenizer beside them", () => {
  const names = (text: string) => modelFiles(text).map(({ name }) => name);
  const { pieces } = JSON.parse(index) as { pieces: unknown[] };
  const files = ["config.json", "merges.txt"].map((path) => ({ path, size: 2, sha256: "" }));
  const listed = names(JSON.stringify({ version: 2, pieces, files }));
  expect(listed).toEqual(["config.json", "merges.txt", "vocab.json", "weights.json", "w.000"]);
  expect(names(index)).toEqual(["config.json", "vocab.json", "merges.txt", "weights.json", "w.000"]);
  expect(modelFiles(undefined).map(({ name }) => name)).toContain("model.safetensors");
});

it("the one-file page holds large files in elements of 4 MiB that can be decoded separately", async () => {
  const size = 7_000_001;
  const bytes = Uint8Array.from({ length: size }, (_, place) => place % 251);
  async function* halves() {
    yield bytes.subarray(0, 5_000_000);
    yield bytes.subarray(5_000_000);
  }
  const html = await compose([{ name: "x", size, isOptional: false, sha256: sha256(bytes) }], { x: halves });
  const elements = [...html.matchAll(/data-file="x">([^<]*)</g)].map(([, text = ""]) => text);
  expect(elements.map((text) => text.length)).toEqual([4 << 20, 4 << 20, 944_728]);
  expect(Buffer.concat(elements.map((text) => Buffer.from(text, "base64"))).equals(bytes)).toBe(true);
});

it.each([
  [[[1]], "w.000 is 1 bytes, weights.json says 4"],
  [[[1, 2, 3, 4], [5]], "w.000 is 5 bytes, weights.json says 4"],
  [[[1, 2, 3, 5]], /w\.000 has SHA-256 [0-9a-f]{64}, weights\.json says 9f64a7/],
  [undefined, "the model has no w.000"],
])("making the one-file page stops with a message for a piece of %j", async (parts, sentence) => {
  const contents = parts ? { ...texts, "w.000": () => chunks(...parts) } : texts;
  await expect(compose(modelFiles(index), contents)).rejects.toThrow(sentence);
});

it("the one-file page is not made from a damaged page", async () => {
  const pages = [start, "", `x${start}${ending}`, (start + ending).slice(1), `${start}${ending} `];
  for (const page of pages) {
    await expect(compose([], {}, page)).rejects.toThrow("one-file.html is damaged");
  }
});

it.each([
  ["{", "weights.json is not valid JSON"],
  ["{}", 'weights.json: expected a list "pieces"'],
  ['{"pieces": [{"path": "../x", "size": 1}]}', "weights.json: piece 0 is not"],
  ['{"pieces": [{"path": "x", "size": 1e9, "sha256": ""}]}', "weights.json: piece 0 is not"],
  ['{"pieces": [], "files": {}}', 'weights.json: expected a list "files"'],
  ['{"pieces": [], "files": [{"path": "a"}]}', "weights.json: file 0 is not"],
])("making the one-file page stops with a message for an index of %s", (text, sentence) => {
  expect(() => modelFiles(text)).toThrow(sentence);
});
