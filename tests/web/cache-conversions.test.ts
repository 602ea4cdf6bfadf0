// Models that are converted while they are read: stored in pieces, resumed, and converted again.
import { expect, it, vi } from "vitest";
import { CachedSource } from "../../web/src/model/store/cached-source.js";
import { listModels, removeModel } from "../../web/src/model/store/models.js";
import type { Revalidation } from "../../web/src/model/store/revalidation.js";
import { bytesOf } from "../../web/src/model/store/store.js";
import { LoadError } from "../../web/src/shared/errors.js";
import { bytes, hash, Host } from "./support/model-host.js";
import { blob, disk, flip, load, storeFor, useDisk } from "./support/stored-models.js";

const signal = new AbortController().signal;
const pieceBytes = 2 * 1024 * 1024;
useDisk();

/** A hub's model that is converted while it is read: it has no index, and a name for its version. */
class ConvertedHost extends Host {
  readonly weights = "q8";
  readonly converted: Uint8Array<ArrayBuffer>;
  commit = "c1";

  constructor(size: number) {
    super([]);
    this.converted = bytes(size, 3);
    this.files.delete("weights.json");
    this.files.set("model.safetensors", this.converted);
  }

  async version(): Promise<string | undefined> {
    return this.isDown ? Promise.reject(new LoadError("network", "down")) : this.commit;
  }

  async read(commit = this.commit) {
    const hasChanged: Revalidation["hasChanged"] = async ({ version }) => {
      if (this.isDown) throw new LoadError("network", "down");
      return version !== commit;
    };
    const version = () => this.version();
    const revalidation = { patienceMs: 1000, hasChanged, version };
    const source = new CachedSource(await storeFor(), this, "hf:a/b@main", revalidation);
    const names = ["config.json", "weights.json", "model.safetensors"];
    const opened = await Promise.all(
      names.map(async (name) => source.open(name, { signal }).catch(() => undefined)),
    );
    const [, index, whole] = await Promise.all(
      opened.map(async (file) => file && (await bytesOf(file.stream))),
    );
    await source.notStored();
    if (!index) return { from: "host", weights: whole };
    const { pieces } = JSON.parse(new TextDecoder().decode(index)) as { pieces: { path: string }[] };
    const parts = [];
    for (const { path } of pieces) parts.push(await bytesOf((await source.open(path, { signal })).stream));
    return { from: "store", weights: Buffer.concat(parts) };
  }
}

it("a model that is converted during the load is stored converted, in pieces, and then loads without its Hub", async () => {
  const host = new ConvertedHost(5_000_000);
  const first = await host.read();
  expect(first.from).toBe("host");
  host.isDown = true;
  const second = await host.read();
  expect(second.from).toBe("store");
  expect(hash(second.weights ?? bytes(0, 0))).toBe(hash(host.converted));
  expect(await listModels()).toEqual([expect.objectContaining({ id: "hf:a/b@main", isComplete: true })]);
  expect(await removeModel("hf:a/b@main")).toBe(true);
  expect(disk.used()).toBe(0);
});

it("a converted model is converted again when its Hub has another version", async () => {
  const host = new ConvertedHost(1000);
  await host.read();
  host.commit = "c2";
  expect((await host.read()).from).toBe("host");
  expect((await host.read()).from).toBe("store");
  expect(await listModels()).toHaveLength(1);
});

it("a damaged converted model is removed, and converted again the next time", async () => {
  const host = new ConvertedHost(1000);
  await host.read();
  flip(await blob(host.converted), 7);
  const hasChanged = async () => false;
  const source = new CachedSource(await storeFor(), host, "hf:a/b@main", { patienceMs: 1000, hasChanged });
  const path = "model.safetensors.000";
  await bytesOf((await source.open(path, { signal })).stream); // the loader rejects its hash
  const healing = source.open(path, { signal, reload: true });
  await expect(healing).rejects.toMatchObject({ code: "corrupt", message: expect.stringContaining(path) });
  expect((await host.read()).from).toBe("host");
  const again = await host.read();
  expect(again.from).toBe("store");
  expect(hash(again.weights ?? bytes(0, 0))).toBe(hash(host.converted));
});

const size = 10_600_000;
const weightsAsked = (host: Host) =>
  host.opened.filter(({ name }) => name === "model.safetensors").map(({ from }) => from);
/** A load that is interrupted after five pieces, of which four are recorded. */
const interrupted = async () => {
  const host = new ConvertedHost(size);
  host.cutAfter = 10_590_000;
  await expect(host.read()).rejects.toThrow("cut");
  await vi.waitFor(async () => expect(await listModels()).toHaveLength(1), 5000);
  host.opened.splice(0);
  host.cutAfter = Infinity;
  return host;
};
const isRight = (host: ConvertedHost, { weights }: { weights: Uint8Array | undefined }) =>
  hash(weights ?? bytes(0, 0)) === hash(host.converted);
const noted = 4 * pieceBytes;

it("an interrupted first load is listed as incomplete, and continues after the stored part", async () => {
  const host = await interrupted();
  const [model] = await listModels();
  expect(model).toMatchObject({ id: "hf:a/b@main", isComplete: false, totalBytes: size + 2 });
  const second = await host.read();
  expect(isRight(host, second)).toBe(true);
  expect(weightsAsked(host)).toEqual([noted]);
  expect(await listModels()).toEqual([
    expect.objectContaining({ isComplete: true, bytes: expect.toSatisfy((stored: number) => stored > size) }),
  ]);
  host.isDown = true;
  const third = await host.read();
  expect(third.from).toBe("store");
  expect(isRight(host, third)).toBe(true);
});

it("an interrupted first load continues before a damaged piece", async () => {
  const host = await interrupted();
  flip(await blob(host.converted.slice(3 * pieceBytes, 4 * pieceBytes)), 7);
  expect(isRight(host, await host.read())).toBe(true);
  expect(weightsAsked(host)).toEqual([3 * pieceBytes]);
});

it("an interrupted first load starts again if its Hub has another version, or states none", async () => {
  const host = await interrupted();
  host.commit = "c2";
  expect(isRight(host, await host.read())).toBe(true);
  expect(weightsAsked(host)).toEqual([0]);
  expect(await listModels()).toHaveLength(1);
});

it("removing an interrupted first load removes all of its data", async () => {
  await interrupted();
  expect(await removeModel("hf:a/b@main")).toBe(true);
  expect(await listModels()).toEqual([]);
  // Bytes written after the last note belong to no model. They are removed when they are old.
  expect(disk.used()).toBeLessThanOrEqual(2 * pieceBytes);
});

it("an interrupted first load frees room only for what is missing", async () => {
  const host = await interrupted();
  await load(new Host(), { of: "http://host/other/" });
  disk.quota = disk.used() + Math.ceil((size - noted) * 1.01) - 1000; // the other model takes 1700
  expect(isRight(host, await host.read())).toBe(true);
  expect(await listModels()).toEqual([expect.objectContaining({ id: "hf:a/b@main", isComplete: true })]);
});

it("a conversion that is interrupted early is not listed", async () => {
  const host = new ConvertedHost(1000);
  host.cutAfter = 500;
  await expect(host.read()).rejects.toThrow("cut");
  expect(await listModels()).toEqual([]);
});
