// Collects the files of a drop on the page, including folders.
import { phrase } from "../language/models.js";

/** How deep to search: a model is in a folder, whose parent may be dropped. */
const deepest = 2;

const entriesOf = (folder: FileSystemDirectoryEntry) =>
  new Promise<FileSystemEntry[]>((resolve, reject) => {
    const all: FileSystemEntry[] = [];
    const reader = folder.createReader();
    // Returns a part at a time, and nothing after the last.
    const readOn = () =>
      reader.readEntries((some) => {
        all.push(...some);
        if (some.length === 0) resolve(all);
        else readOn();
      }, reject);
    readOn();
  });

const fileOf = (entry: FileSystemFileEntry) =>
  new Promise<File>((resolve, reject) => entry.file(resolve, reject));

/** Files by the path of their folder. */
async function collect(
  entries: readonly FileSystemEntry[],
  path: string,
  depth: number,
  found: Map<string, File[]>,
): Promise<void> {
  for (const entry of entries) {
    if (entry.isFile) {
      const inside = found.get(path) ?? [];
      inside.push(await fileOf(entry as FileSystemFileEntry));
      found.set(path, inside);
    } else if (depth < deepest) {
      const inside = await entriesOf(entry as FileSystemDirectoryEntry);
      await collect(inside, `${path}${entry.name}/`, depth + 1, found);
    }
  }
}

/** The folder's own name. */
const nameOf = (path: string) => path.replace(/\/$/, "").replace(/^.*\//, "");

/** The files of a drop, from its entries, or directly if the browser has no entries. */
export async function filesOfDrop(
  entries: readonly FileSystemEntry[],
  files: readonly File[],
): Promise<{ files: readonly File[]; name?: string }> {
  if (entries.length === 0) return { files };
  const found = new Map<string, File[]>();
  await collect(entries, "", 0, found);
  const models = [...found].filter(([, inside]) => inside.some(({ name }) => name === "config.json"));
  const [model] = models;
  if (models.length > 1) {
    const list = models.map(([path]) => nameOf(path) || phrase("looseFiles")).join(", ");
    throw new Error(phrase("severalModels", { count: models.length, list }));
  }
  if (!model) return { files: [...found.values()].flat() }; // the caller checks and explains why they are no model
  return { files: model[1], name: nameOf(model[0]) };
}
