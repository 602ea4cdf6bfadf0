// Drawing once per frame, and at once in a hidden page.
import { afterEach, expect, it, vi } from "vitest";
import { FrameBatch } from "../../../web/page/dom/frame-batch.js";

afterEach(() => vi.unstubAllGlobals());

function begin(hidden: boolean): {
  draw: ReturnType<typeof vi.fn>;
  batch: FrameBatch;
  frames: (() => void)[];
} {
  const frames: (() => void)[] = [];
  vi.stubGlobal("document", { hidden });
  vi.stubGlobal("requestAnimationFrame", (run: () => void) => frames.push(run));
  vi.stubGlobal("cancelAnimationFrame", () => undefined);
  const draw = vi.fn();
  return { draw, batch: new FrameBatch(draw), frames };
}

it("several requests cause one drawing, in the next frame", () => {
  const { draw, batch, frames } = begin(false);
  for (let request = 0; request < 3; request += 1) batch.request();
  expect(draw).not.toHaveBeenCalled();
  expect(frames).toHaveLength(1);
  frames[0]?.();
  expect(draw).toHaveBeenCalledOnce();
});

it("a hidden page draws at once, since it has no frames", () => {
  const { draw, batch } = begin(true);
  batch.request();
  batch.request();
  expect(draw).toHaveBeenCalledTimes(2);
});
