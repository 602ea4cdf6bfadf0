// Horizontal swipes on a touch screen.

/** Pixels to the side. A finger that moves as far up or down scrolls. */
const least = 60;
/** A slower movement selects text. */
const mostMs = 500;

/** Calls `swiped` with 1 after a swipe from right to left over `part`, and with -1 after one from left to right. */
export function listenForSwipes(part: HTMLElement, swiped: (step: 1 | -1) => void): void {
  let start: { x: number; y: number; time: number } | undefined;
  const options = { passive: true };
  part.addEventListener(
    "touchstart",
    ({ touches, timeStamp }) => {
      const [touch] = touches;
      start =
        touch && touches.length === 1 ? { x: touch.clientX, y: touch.clientY, time: timeStamp } : undefined;
    },
    options,
  );
  part.addEventListener(
    "touchend",
    ({ changedTouches, timeStamp }) => {
      const [touch] = changedTouches;
      if (!start || !touch) return;
      const [right, down] = [touch.clientX - start.x, touch.clientY - start.y];
      if (Math.abs(right) < least || Math.abs(down) > Math.abs(right) / 2) return;
      if (timeStamp - start.time > mostMs) return;
      swiped(right < 0 ? 1 : -1);
    },
    options,
  );
}
