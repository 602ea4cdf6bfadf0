// Finds the model among files that the user has picked or dropped.
import { LoadError } from "../shared/errors.js";
import type { FilesRequest } from "../shared/protocol.js";
import { refuse, describeValue } from "../shared/refuse.js";
import { numberOf } from "./identity.js";

export const isFile = (value: unknown): value is File =>
  typeof value === "object" && value !== null && "name" in value && "slice" in value && "stream" in value;

/** Path of a file relative to the picked folder; for a file that was picked itself, its name. */
const pathOf = (file: File) => file.webkitRelativePath || file.name;

/** Weights that lie beside a config.json. */
const weightsPattern = /^(weights\.json|(.*\.safetensors|pytorch_model.*\.bin)(\.index\.json)?)$/;

const isGguf = (file: File) => /\.gguf$/i.test(file.name);

/** Files by folder. The keys are paths with a slash at the end. */
function byFolder(files: readonly File[]): Map<string, File[]> {
  const folders = new Map<string, File[]>();
  for (const file of files) {
    const folder = pathOf(file).replace(/[^/]*$/, "");
    const inside = folders.get(folder) ?? [];
    inside.push(file);
    folders.set(folder, inside);
  }
  return folders;
}

const listed = (names: readonly string[]) => names.slice(0, 5).join(", ") + (names.length > 5 ? ", …" : "");

/** The files of the one model among `files`. */
function chooseModel(files: readonly File[]): { files: readonly File[]; file?: string } {
  const folders = [...byFolder(files)].filter(([, inside]) =>
    inside.some(({ name }) => name === "config.json"),
  );
  const [first] = folders;
  if (folders.length > 1) {
    const names = folders.map(([path]) => path || "the files themselves");
    return refuse(`there are ${folders.length} models among the files (${listed(names)}), expected one`);
  }
  const seen = new Set<string>();
  const twice = first?.[1].find(({ name }) => seen.has(name) || !seen.add(name));
  if (twice) return refuse(`two files are named "${twice.name}", expected the files of one model`);
  if (first?.[1].some(({ name }) => weightsPattern.test(name))) return { files: first[1] };
  const single = files.filter(isGguf);
  const [gguf] = single;
  if (single.length > 1) {
    const names = single.map(({ name }) => name);
    return refuse(`there are ${single.length} GGUF files (${listed(names)}), expected one`);
  }
  if (gguf) return { files: [gguf], file: gguf.name };
  if (first) return { files: first[1] }; // a folder without weights gets its error where the weights are read
  return refuse(
    `there is no model among the files (${listed(files.map(pathOf))}), expected config.json and its weights, or a .gguf`,
  );
}

/** The files of any kind of list, or one file. `whose` is for messages. */
function listOf(source: object, whose: string): File[] {
  const list: unknown[] = Symbol.iterator in source ? [...(source as Iterable<unknown>)] : [source];
  const files = list.map((one, i) =>
    isFile(one) ? one : refuse(`number ${i} of ${whose} files is ${describeValue(one)}, expected a File`),
  );
  return files.length > 0 ? files : refuse(`the list of ${whose} files is empty`);
}

const requestFor = (files: readonly File[]): FilesRequest => ({
  kind: "files",
  files: files.map((file) => ({ name: file.name, file })),
  key: files.map(numberOf).join(),
});

/** The model among `source`: files in any kind of list, or one file. */
export function readFiles(source: object): FilesRequest {
  const { files, file } = chooseModel(listOf(source, "the model's"));
  return { ...requestFor(files), ...(file !== undefined && { file }) };
}

/** The same for a LoRA adapter. */
export function readAdapterFiles(source: object): FilesRequest {
  const files = listOf(source, "the adapter's");
  const names = ["adapter_config.json", "adapter_model.safetensors"];
  const found = files.filter(({ name }) => names.includes(name));
  const isOne = names.every((name) => found.filter((file) => file.name === name).length === 1);
  if (isOne) return requestFor(found);
  return refuse(
    `the adapter's files are ${listed(files.map(pathOf))}, expected one ${names.join(" and one ")} among them`,
  );
}

/** Parts of the File System Access API that TypeScript's library lacks. */
interface Handle {
  kind: "directory" | "file";
  name: string;
  queryPermission?(what: { mode: "read" }): Promise<PermissionState>;
  requestPermission?(what: { mode: "read" }): Promise<PermissionState>;
}

export const isHandle = (source: object): source is FileSystemDirectoryHandle | FileSystemFileHandle =>
  "kind" in source && "name" in source && ("getFile" in source || "getFileHandle" in source);

/** The files in a folder, or the one file, of a handle. The browser may ask the user. */
export async function filesOf(handle: FileSystemDirectoryHandle | FileSystemFileHandle): Promise<File[]> {
  const access = handle as Handle;
  let permission = (await access.queryPermission?.({ mode: "read" })) ?? "granted";
  if (permission === "prompt") permission = (await access.requestPermission?.({ mode: "read" })) ?? "denied";
  if (permission !== "granted") {
    throw new LoadError(
      "not-found",
      `this page may not read "${handle.name}": the browser or its user did not allow it`,
    );
  }
  if (handle.kind === "file") return [await handle.getFile()];
  const files: File[] = [];
  for await (const entry of handle.values()) {
    if (entry.kind === "file") files.push(await (entry as FileSystemFileHandle).getFile());
  }
  return files;
}
