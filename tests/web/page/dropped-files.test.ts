// Which files of a drop are taken for a model: folders are walked through as browsers have them read.
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

/** What is taken of a drop of `entries`. */
async function drop(entries: readonly object[], files: readonly File[] = []) {
  const { files: found, name } = await filesOfDrop(entries as readonly FileSystemEntry[], files);
  return { names: found.map((each) => each.name), name };
}

const names = model.map(({ name }) => name);

it("takes the files of a folder, which names the model", async () => {
  expect(await drop([folder("tale", model)])).toEqual({ names, name: "tale" });
});

it("takes the only model of a folder of folders, and nothing that lies beside it", async () => {
  const others = [file("README.md"), folder("notes", [file("a.txt")])];
  expect(await drop([folder("models", [...others, folder("tale", model)])])).toEqual({ names, name: "tale" });
});

it("looks no deeper than into folders of a folder", async () => {
  const deep = folder("a", [folder("b", [folder("tale", model)]), file("notes.txt")]);
  expect(await drop([deep])).toEqual({ names: ["notes.txt"] });
});

it("reads a folder to its end, portion by portion", async () => {
  const pieces = Array.from({ length: 2 * portion + 50 }, (_, place) => file(`model.safetensors.${place}`));
  const found = await drop([folder("tale", [...pieces, ...model])]);
  expect(found.names).toHaveLength(pieces.length + model.length);
  expect(found.names.slice(-model.length)).toEqual(names);
  expect(found.name).toBe("tale");
  const full = pieces.slice(0, portion - 1); // with the one below, a portion that is full and the last
  expect((await drop([folder("tale", [...full, file("config.json")])])).names).toHaveLength(portion);
});

it("takes files without a folder, which leave the name to what they are", async () => {
  expect(await drop(model)).toEqual({ names, name: "" });
  expect(await drop([file("a.gguf")])).toEqual({ names: ["a.gguf"] });
});

it("says plainly that there is more than one model, and which", async () => {
  await expect(drop([folder("tale", model), folder("models", [folder("other", model)])])).rejects.toThrow(
    "these are 2 models (tale, other), but only one can be loaded: drop one of them",
  );
  await expect(drop([...model, folder("other", model)])).rejects.toThrow("(files without a folder, other)");
});

it("takes all where there is no model", async () => {
  expect(await drop([folder("notes", [file("a.txt"), file("b.txt")])])).toEqual({
    names: ["a.txt", "b.txt"],
  });
  expect(await drop([folder("empty", [])])).toEqual({ names: [] });
});

it("takes the plain files where the browser has no entries of them", async () => {
  expect(await drop([], [new File(["x"], "a.gguf")])).toEqual({ names: ["a.gguf"] });
});

it("fails where a file cannot be read", async () => {
  await expect(drop([folder("tale", [...model, unreadable("merges.txt")])])).rejects.toThrow(
    "merges.txt has gone",
  );
});
