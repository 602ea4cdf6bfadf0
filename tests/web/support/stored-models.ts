// Models that are stored on a fake disk, and loads of them, as a worker starts them.
import { beforeEach, vi } from "vitest";
import { CachedSource } from "../../../web/src/model/store/cached-source.js";
import { listModels } from "../../../web/src/model/store/models.js";
import { openStoreFor } from "../../../web/src/model/store/open-store.js";
import type { Folder, Store } from "../../../web/src/model/store/store.js";
import { FakeDisk } from "./fake-opfs.js";
import { bytes, hash, id, loadFrom, revalidationBy, type Host, type LoadOptions } from "./model-host.js";

const toFake = ["setTimeout", "clearTimeout", "setInterval", "clearInterval", "performance"] as const;

/** Lets `settled` turn the clock. */
export const stopClock = () => void vi.useFakeTimers({ toFake: [...toFake] });

/** Turns the clock until `promise` settles, so slowly that other threads answer as soon as they would. */
export async function settled<T>(promise: Promise<T>): Promise<T> {
  const state = { isOpen: true };
  const close = () => (state.isOpen = false);
  promise.then(close, close);
  while (state.isOpen) {
    await vi.advanceTimersByTimeAsync(500);
    const end = Date.now() + 3;
    while (Date.now() < end) await new Promise((resolve) => setImmediate(resolve));
  }
  return promise;
}

/** The disk of the current test, which is empty when the test begins. */
export let disk: FakeDisk;

export function newDisk(): void {
  disk = new FakeDisk();
  vi.stubGlobal("navigator", disk.navigator);
}

/** Gives each test a disk, and the page an address. */
export function useDisk(): void {
  beforeEach(() => {
    newDisk();
    vi.stubGlobal("location", { href: "http://host/page.html" });
  });
}

export async function storeFor(model = id): Promise<Store> {
  const opened = await openStoreFor(model);
  if (!opened.store) throw new Error(opened.refusal);
  return opened.store;
}

export const load = async (host: Host, options: LoadOptions = {}) =>
  loadFrom(await storeFor(options.of), host, options);

/** The source that a load reads `host` through, with its index read. */
export async function begin(host: Host): Promise<CachedSource> {
  const source = new CachedSource(await storeFor(), host, id, revalidationBy(host));
  await source.open("weights.json", { signal: new AbortController().signal });
  return source;
}

/** Whether a load has read each file of `host`. */
export const isRight = ({ read }: Pick<Awaited<ReturnType<typeof load>>, "read">, host: Host) =>
  [...host.files].every(([name, content]) => hash(read.get(name) ?? bytes(0, 0)) === hash(content));

export const listed = async () => (await listModels()).map((model) => model.id).sort();

export const filesIn = async (folder: Folder) => (await disk.folder(folder)).files;
export const blobNames = async () => [...(await filesIn("blobs")).keys()];
/** Puts a file with this content, text, or number of zeros in the store. */
export async function put(
  folder: Folder,
  name: string,
  content: Uint8Array | string | number,
  modified = disk.now,
) {
  const bytes =
    typeof content === "string" ? new TextEncoder().encode(content) : new Uint8Array(content as number);
  Object.assign(await (await disk.folder(folder)).getFileHandle(name, { create: true }), { bytes, modified });
}
/** The stored file with this content. */
export const blob = async (content: Uint8Array) => (await filesIn("blobs")).get(hash(content));

/** The only record. */
export async function record() {
  const [file] = (await filesIn("models")).values();
  if (!file) throw new Error("there is no record");
  return file;
}

export function flip(file: { bytes: Uint8Array } | undefined, at: number): void {
  if (file) file.bytes[at] = 255 - (file.bytes[at] ?? 0);
}
