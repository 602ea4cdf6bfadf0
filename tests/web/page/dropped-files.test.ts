// The files of a drop that count as a model. Folders are read in portions, as browsers require.
import { expect, it } from "vitest";
import { filesOfDrop } from "../../../web/page/models/dropped-files.js";

/** Browsers give the entries of a folder in portions of this size. */
const portion = 100;

const file = (name: string) => ({
  isFile: true,
  name,
  file: (found: (file: File) => void) => queueMicrotask(() => found(new File(["x"], name))),
});

const folder = (name: string, inside: readonly object[]) => ({
  isFile: false,
  name,
  createReader() {
    let at = 0;
    const readEntries = (found: (some: readonly object[]) => void) => {
      const some = inside.slice(at, (at += portion));
      queueMicrotask(() => found(some));
    };
    return { readEntries };
  },
});

const unreadable = (name: string) => ({
  isFile: true,
  name,
  file: (_found: unknown, failed: (error: Error) => void) => failed(new Error(`${name} has gone`)),
});

const model = ["config.json", "vocab.json", "model.safetensors"].map(file);

/** The files that the page takes from a drop of `entries`. */
async function drop(entries: readonly object[], files: readonly File[] = []) {
  const { files: found, name } = await filesOfDrop(entries as readonly FileSystemEntry[], files);
  return { names: found.map((each) => each.name), name };
}

const names = model.map(({ name }) => name);

it("a dropped folder gives its files, and names the model", async () => {
  expect(await drop([folder("tale", model)])).toEqual({ names, name: "tale" });
});

it("a dropped folder of folders gives its only model, and nothing beside it", async () => {
  const others = [file("README.md"), folder("notes", [file("a.txt")])];
  expect(await drop([folder("models", [...others, folder("tale", model)])])).toEqual({ names, name: "tale" });
});

it("a dropped folder is searched two levels deep", async () => {
  const deep = folder("a", [folder("b", [folder("tale", model)]), file("notes.txt")]);
  expect(await drop([deep])).toEqual({ names: ["notes.txt"] });
});

it("a dropped folder is read to its end, portion by portion", async () => {
  const pieces = Array.from({ length: 2 * portion + 50 }, (_, place) => file(`model.safetensors.${place}`));
  const found = await drop([folder("tale", [...pieces, ...model])]);
  expect(found.names).toHaveLength(pieces.length + model.length);
  expect(found.names.slice(-model.length)).toEqual(names);
  expect(found.name).toBe("tale");
  const full = pieces.slice(0, portion - 1); // with the one below, a portion that is full and the last
  expect((await drop([folder("tale", [...full, file("config.json")])])).names).toHaveLength(portion);
});

it("dropped files without a folder are accepted", async () => {
  expect(await drop(model)).toEqual({ names, name: "" });
  expect(await drop([file("a.gguf")])).toEqual({ names: ["a.gguf"] });
});

it("a drop with several models is refused with their names", async () => {
  await expect(drop([folder("tale", model), folder("models", [folder("other", model)])])).rejects.toThrow(
    "these are 2 models (tale, other), but only one can be loaded: drop one of them",
  );
  await expect(drop([...model, folder("other", model)])).rejects.toThrow("(files without a folder, other)");
});

it("a drop without a model gives all files", async () => {
  expect(await drop([folder("notes", [file("a.txt"), file("b.txt")])])).toEqual({
    names: ["a.txt", "b.txt"],
  });
  expect(await drop([folder("empty", [])])).toEqual({ names: [] });
});

it("a drop gives plain files if the browser has no entries", async () => {
  expect(await drop([], [new File(["x"], "a.gguf")])).toEqual({ names: ["a.gguf"] });
});

it("a drop with an unreadable file fails", async () => {
  await expect(drop([folder("tale", [...model, unreadable("merges.txt")])])).rejects.toThrow(
    "merges.txt has gone",
  );
});
