// On a full device, models make room for texts.
import { beforeEach, expect, it, vi } from "vitest";
import type { StoredModel } from "../../../web/src/client/index.js";
import { withRoom } from "../../../web/page/library/with-room.js";

const device = vi.hoisted(() => ({ models: [] as Pick<StoredModel, "id" | "isKept">[] }));
vi.mock(import("../../../web/src/client/index.js"), async (original) => ({
  ...(await original()),
  listModels: () => Promise.resolve(device.models as StoredModel[]),
  removeModel: (id) => {
    const { length } = device.models;
    device.models = device.models.filter((model) => model.id !== id);
    return Promise.resolve(device.models.length < length);
  },
}));

const full = new DOMException("", "QuotaExceededError");
/** Writes once at most `most` models are left. */
const writeBeside = (most: number) => () =>
  device.models.length > most ? Promise.reject(full) : Promise.resolve("written");
const left = () => device.models.map(({ id }) => id);

beforeEach(() => {
  device.models = [
    { id: "newest", isKept: false },
    { id: "older", isKept: false },
    { id: "kept", isKept: true },
    { id: "oldest", isKept: false },
  ];
});

it("a text for which there is room removes no model", async () => {
  expect(await withRoom(writeBeside(4))).toBe("written");
  expect(left()).toHaveLength(4);
});

it("the least recently used models go, one after another, but none that is kept", async () => {
  expect(await withRoom(writeBeside(2))).toBe("written");
  expect(left()).toEqual(["newest", "kept"]);
});

it("without a model that may go, the write fails with the reason of the browser", async () => {
  await expect(withRoom(writeBeside(0))).rejects.toBe(full);
  expect(left()).toEqual(["kept"]);
});

it("another failure removes no model", async () => {
  const refused = new DOMException("", "SecurityError");
  await expect(withRoom(() => Promise.reject(refused))).rejects.toBe(refused);
  expect(left()).toHaveLength(4);
});
