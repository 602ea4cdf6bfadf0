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

const model = ["config.json", "vocab.json", "model.safetensors"].map(file);

/** The files that the page takes from a drop of `entries`. */
async function drop(entries: readonly object[], files: readonly File[] = []) {
  const { files: found, name } = await filesOfDrop(entries as readonly FileSystemEntry[], files);
  return { names: found.map((each) => each.name), name };
}

const names = model.map(({ name }) => name);

const notes = folder("notes", [file("a.txt"), file("b.txt")]);

it.each<[string, object[], { names: string[]; name?: string }]>([
  ["a folder gives its files, and names the model", [folder("tale", model)], { names, name: "tale" }],
  [
    "a folder of folders gives its only model, and nothing beside it",
    [folder("models", [file("README.md"), notes, folder("tale", model)])],
    { names, name: "tale" },
  ],
  [
    "a folder is searched two levels deep",
    [folder("a", [folder("b", [folder("tale", model)]), file("notes.txt")])],
    { names: ["notes.txt"] },
  ],
  ["files without a folder are accepted", model, { names, name: "" }],
  ["a GGUF file is accepted", [file("a.gguf")], { names: ["a.gguf"] }],
  ["a folder without a model gives all files", [notes], { names: ["a.txt", "b.txt"] }],
  ["an empty folder gives none", [folder("empty", [])], { names: [] }],
])("of what is dropped, %s", async (_, entries, found) => {
  expect(await drop(entries)).toEqual(found);
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

it("a drop with several models is refused with their names", async () => {
  await expect(drop([folder("tale", model), folder("models", [folder("other", model)])])).rejects.toThrow(
    "these are 2 models (tale, other), but only one can be loaded: drop one of them",
  );
  await expect(drop([...model, folder("other", model)])).rejects.toThrow("(files without a folder, other)");
});

it("a drop gives plain files if the browser has no entries", async () => {
  expect(await drop([], [new File(["x"], "a.gguf")])).toEqual({ names: ["a.gguf"] });
});
