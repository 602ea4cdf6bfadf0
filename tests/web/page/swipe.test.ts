// Swipes of a finger, as the browser reports them.
import { expect, it } from "vitest";
import { listenForSwipes } from "../../../web/page/dom/swipe.js";

interface Finger {
  x: number;
  y?: number;
  time: number;
  /** Fingers on the screen; 1. */
  fingers?: number;
}

function touch(type: "touchstart" | "touchend", { x, y = 0, time, fingers = 1 }: Finger): Event {
  const touches = Array.from({ length: fingers }, () => ({ clientX: x, clientY: y }));
  return Object.defineProperties(new Event(type), {
    touches: { value: type === "touchstart" ? touches : [] },
    changedTouches: { value: touches },
    timeStamp: { value: time },
  });
}

/** The reports of `listenForSwipes` for a finger that moves from one place to another. */
function swipe(from: Finger, to: Finger): number[] {
  const part = new EventTarget();
  const steps: number[] = [];
  listenForSwipes(part as HTMLElement, (step) => steps.push(step));
  part.dispatchEvent(touch("touchstart", from));
  part.dispatchEvent(touch("touchend", to));
  return steps;
}

it.each<[string, Finger, Finger, steps: number[]]>([
  ["a swipe to the left asks for the next text", { x: 200, time: 0 }, { x: 100, y: 20, time: 300 }, [1]],
  ["a swipe to the right goes back", { x: 100, time: 0 }, { x: 200, y: -20, time: 300 }, [-1]],
  ["a tap is not a swipe", { x: 200, time: 0 }, { x: 190, time: 100 }, []],
  ["scrolling is not a swipe", { x: 200, time: 0 }, { x: 100, y: 80, time: 300 }, []],
  ["a slow movement, which selects text, is not a swipe", { x: 200, time: 0 }, { x: 100, time: 900 }, []],
  ["two fingers are not a swipe", { x: 200, time: 0, fingers: 2 }, { x: 100, time: 300 }, []],
])("%s", (_, from, to, steps) => {
  expect(swipe(from, to)).toEqual(steps);
});
