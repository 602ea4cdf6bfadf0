// Drawing once per frame, and at once in a hidden page.
import { expect, it, vi } from "vitest";
import { FrameBatch } from "../../../web/page/dom/frame-batch.js";

it.each([
  ["several requests cause one drawing, in the next frame", false, 0, 1],
  ["a hidden page draws at once, since it has no frames", true, 2, 2],
])("%s", (_, hidden, atOnce, later) => {
  const frames: (() => void)[] = [];
  vi.stubGlobal("document", { hidden });
  vi.stubGlobal("requestAnimationFrame", (run: () => void) => frames.push(run));
  vi.stubGlobal("cancelAnimationFrame", () => undefined);
  const draw = vi.fn();
  const batch = new FrameBatch(draw);
  batch.request();
  batch.request();
  expect(draw).toHaveBeenCalledTimes(atOnce);
  for (const run of frames) run();
  expect(draw).toHaveBeenCalledTimes(later);
});
