// On a full device, models make room for texts.
import { beforeEach, expect, it, vi } from "vitest";
import { withRoom } from "../../../web/page/library/with-room.js";

const device = vi.hoisted(() => ({ models: 0 }));
vi.mock(import("../../../web/src/cache/models.js"), async (original) => ({
  ...(await original()),
  evictOne: () => Promise.resolve(device.models > 0 && (device.models -= 1) >= 0),
}));

const full = new DOMException("", "QuotaExceededError");
/** Writes once at most `most` models are left. */
const writeBeside = (most: number) => () =>
  device.models > most ? Promise.reject(full) : Promise.resolve("written");

beforeEach(() => {
  device.models = 3;
});

it("if there is room, a text removes no model", async () => {
  expect(await withRoom(writeBeside(3))).toBe("written");
  expect(device.models).toBe(3);
});

it("models are removed one after another until there is room", async () => {
  expect(await withRoom(writeBeside(1))).toBe("written");
  expect(device.models).toBe(1);
});

it("if no model may be removed, the write fails with the browser's reason", async () => {
  await expect(withRoom(() => Promise.reject(full))).rejects.toBe(full);
  expect(device.models).toBe(0);
});

it("another failure removes no model", async () => {
  const refused = new DOMException("", "SecurityError");
  await expect(withRoom(() => Promise.reject(refused))).rejects.toBe(refused);
  expect(device.models).toBe(3);
});
