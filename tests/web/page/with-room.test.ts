// On a full device, models make room for texts.
import { expect, it, vi } from "vitest";
import { withRoom } from "../../../web/page/library/with-room.js";

const device = vi.hoisted(() => ({ models: 0 }));
vi.mock(import("../../../web/src/model/store/models.js"), async (original) => ({
  ...(await original()),
  evictOne: () => Promise.resolve(device.models > 0 && (device.models -= 1) >= 0),
}));

const full = new DOMException("", "QuotaExceededError");

it.each([
  ["if there is room, a text removes no model", 3, 3],
  ["models are removed one after another until there is room", 1, 1],
])("%s", async (_, most, left) => {
  device.models = 3;
  const write = () => (device.models > most ? Promise.reject(full) : Promise.resolve("written"));
  expect(await withRoom(write)).toBe("written");
  expect(device.models).toBe(left);
});

it.each([
  ["if no model may be removed, the write fails with the browser's reason", full, 0],
  ["another failure removes no model", new DOMException("", "SecurityError"), 3],
])("%s", async (_, error, left) => {
  device.models = 3;
  await expect(withRoom(() => Promise.reject(error))).rejects.toBe(error);
  expect(device.models).toBe(left);
});
