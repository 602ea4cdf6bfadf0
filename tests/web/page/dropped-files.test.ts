// The files of a drop that count as a model. Folders are read in portions, as browsers require.
import { expect, it } from "vitest";
import { filesOfDrop } from "../../../web/page/models/dropped-files.js";

/** Browsers give the entries of a folder in portions; these are small. */
const portion = 2;

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

const names = model.map(({ name }) => name);

const notes = folder("notes", [file("a.txt"), file("b.txt")]);

it.each<[string, object[], { names: string[]; name?: string }]>([
  [
    "a folder of folders",
    [folder("models", [file("README.md"), notes, folder("tale", model)])],
    { names, name: "tale" },
  ],
  [
    "a model three levels deep",
    [folder("a", [folder("b", [folder("tale", model)]), file("c.txt")])],
    { names: ["c.txt"] },
  ],
  ["files without a folder", model, { names, name: "" }],
  ["a folder without a model", [notes], { names: ["a.txt", "b.txt"] }],
])("a drop of %s gives the only model, or all files within two levels", async (_, entries, found) => {
  const { files, name } = await filesOfDrop(entries as unknown as readonly FileSystemEntry[], []);
  expect({ names: files.map((each) => each.name), name }).toEqual(found);
});

it("a drop with several models is refused with their names", async () => {
  const entries = [
    ...model,
    folder("models", [folder("other", model)]),
  ] as unknown as readonly FileSystemEntry[];
  await expect(filesOfDrop(entries, [])).rejects.toThrow(
    "these are 2 models (files without a folder, other), but only one can be loaded: drop one of them",
  );
});

it("a drop gives plain files if the browser has no entries", async () => {
  const files = [new File(["x"], "a.gguf")];
  expect(await filesOfDrop([], files)).toEqual({ files });
});
