// The small files of a model, and their sizes and hashes in weights.json.
import { createHash } from "node:crypto";
import { expect, it, vi } from "vitest";
import { UrlSource, type ModelSource } from "../../web/src/model/sources/model-source.js";
import { parseJson } from "../../web/src/model/parse-json.js";
import { readOptionalText, readText, type IndexPromise } from "../../web/src/model/sources/read-text.js";
import { sha256 } from "../../web/src/model/sha256.js";
import { ChangedFileError } from "../../web/src/model/sources/steady-fetch.js";
import { LoadError } from "../../web/src/shared/errors.js";
import { MemorySource } from "./support/memory-source.js";

const bytes = (text: string) => new TextEncoder().encode(text);
const hashOf = (text: string) => createHash("sha256").update(text).digest("hex");
const { signal } = new AbortController();

const source = (kept: Uint8Array, fresh = kept) =>
  new MemorySource({ f: kept, "x.json": kept }, { afterReload: { f: fresh, "x.json": fresh } });
const reloads = ({ opened }: MemorySource) => opened.map(({ reload }) => reload);

const failing = (code: string): ModelSource => ({
  open: async () => Promise.reject(new LoadError(code, "why")),
});

const listing = (path: string, text: string): IndexPromise =>
  Promise.resolve({ size: 0, pieces: [], files: [{ path, size: text.length, sha256: hashOf(text) }] });

it("a text is joined across chunks", async () => {
  const stream = new Blob([bytes("aé€😀")]).stream().pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform: (chunk, controller) => chunk.forEach((byte) => controller.enqueue(Uint8Array.of(byte))),
    }),
  );
  const files: ModelSource = { open: async () => ({ size: undefined, stream }) };
  expect(await readText(files, "f", signal)).toBe("aé€😀");
  expect(await readText(source(bytes("é").slice(0, 1)), "f", signal)).toBe("\ufffd");
});

it("an optional text may be missing, unless weights.json lists it, but other errors are reported", async () => {
  expect(await readOptionalText(source(bytes("x")), "f", signal)).toBe("x");
  expect(await readOptionalText(failing("not-found"), "f", signal)).toBeUndefined();
  const network = readOptionalText(failing("network"), "f", signal);
  await expect(network).rejects.toMatchObject({ code: "network" });
  const listed = readOptionalText(failing("not-found"), "f", signal, listing("f", "x"));
  await expect(listed).rejects.toMatchObject({ code: "not-found" });
  expect(await readOptionalText(failing("not-found"), "f", signal, listing("g", "x"))).toBeUndefined();
  for (const status of [401, 403, 404, 410]) {
    const refusing = new UrlSource("http://host/", async () => new Response("", { status }));
    expect(await readOptionalText(refusing, "f", signal)).toBeUndefined();
    await expect(readText(refusing, "f", signal)).rejects.toThrow(`the host answered ${status}`);
  }
});

it("a text is read again once from its start if its rest comes from another version", async () => {
  const changed = new ChangedFileError("http://host/f");
  const open = vi.fn<ModelSource["open"]>().mockRejectedValueOnce(changed);
  open.mockImplementation(async (...asked) => source(bytes("x")).open(...asked));
  expect(await readText({ open }, "f", signal)).toBe("x");
  open.mockReset().mockRejectedValue(changed);
  await expect(readText({ open }, "f", signal)).rejects.toBe(changed);
  expect(open.mock.calls.map(([, { reload }]) => reload)).toEqual([false, true]);
});

it.each([
  ["right", [false]],
  ["wrong", [false, true]],
])("a listed text that is %s is requested again past all caches only if it is wrong", async (text, asked) => {
  const files = source(bytes(text), bytes("right"));
  expect(await readText(files, "f", signal, listing("f", "right"))).toBe("right");
  expect(reloads(files)).toEqual(asked);
});

it("a listed text that stays wrong is refused with its name and both hashes", async () => {
  const files = source(bytes("wrong"));
  await expect(readText(files, "f", signal, listing("f", "right"))).rejects.toMatchObject({
    code: "corrupt",
    message: `f has SHA-256 ${hashOf("wrong")}, weights.json says ${hashOf("right")}`,
  });
  expect(reloads(files)).toEqual([false, true]);
});

it.each([
  ["its line endings were changed, as by Git", '{"a":\n1}\n', '{"a":\r\n1}\r\n'],
  ["its line endings were changed, as by Git", "a\r\nb", "a\nb"],
  ["it was edited, perhaps by a formatter such as Prettier", '{"a":1}', '{ "a": 1 }'],
  ["weights.json says [0-9a-f]{64}$", '{"a":1}', '{"a":2}'],
  ["weights.json says [0-9a-f]{64}$", "a b", "a  b"],
])("the error for a listed text with another hash says: %s", async (why, written, text) => {
  const reading = readText(source(bytes(text)), "x.json", signal, listing("x.json", written));
  await expect(reading).rejects.toThrow(new RegExp(why));
});

it.each([
  ["version https://git-lfs.github.com/spec/v1\noid sha256:0", "f is a Git LFS pointer: run `git lfs pull`"],
  ["\n<!DOCTYPE html><p>Sign in</p>", "f is a web page"],
])("a small file with the contents %j is refused", async (text, message) => {
  await expect(readText(source(bytes(text)), "f", signal)).rejects.toThrow(message);
  const optional = readOptionalText(source(bytes(text)), "f", signal);
  if (text.startsWith("version")) await expect(optional).rejects.toThrow(message);
  else expect(await optional).toBeUndefined(); // a host that answers any address with its page
});

it("a listed text is not accepted before weights.json has arrived", async () => {
  let arrive: (index: Awaited<IndexPromise>) => void = () => {};
  const index: IndexPromise = new Promise((resolve) => (arrive = resolve));
  let text: string | undefined;
  const files = source(bytes("x"));
  const reading = readText(files, "f", signal, index).then((read) => (text = read));
  await vi.waitFor(() => expect(files.opened).toHaveLength(1));
  await new Promise((resolve) => setImmediate(resolve));
  expect(text).toBeUndefined();
  arrive(await listing("f", "x"));
  expect(await reading).toBe("x");
});

it("SHA-256 is the same with and without crypto.subtle", async () => {
  const lengths = [0, 3, 55, 56, 63, 64, 119, 120, 1000];
  const texts = lengths.map((length) => "abcdefg".repeat(200).slice(0, length));
  for (const text of texts) expect(await sha256(bytes(text))).toBe(hashOf(text));
  vi.stubGlobal("crypto", {});
  for (const text of texts) expect(await sha256(bytes(text))).toBe(hashOf(text));
});

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
