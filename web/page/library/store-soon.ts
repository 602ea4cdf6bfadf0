// Decides when to store the text: soon after a change, in a pause if there is one, and at once when the page is hidden.
// A page in the background may be killed without notice.

/** Longest time after the first unstored change. */
const waitMs = 500;

/** This long without a change is a pause. */
const pauseMs = 300;

/** Without pauses, storing takes at most one part in this many of the page's time. */
const partOfTime = 20;

const whenIdle = (then: () => void) => {
  // Safari lacks requestIdleCallback, and a page that is never idle must store its text, too.
  if (typeof requestIdleCallback === "undefined") then();
  else requestIdleCallback(then, { timeout: 200 });
};

/** Returns a function to call after each change. `store` then runs in the next pause, or after `waitMs` without one. */
export function storeSoon(store: () => void): () => void {
  let isAwaited = false;
  let first = 0;
  let latest = 0;
  let longest = waitMs;
  const storeNow = () => {
    isAwaited = false;
    const begin = performance.now();
    store();
    longest = Math.max(waitMs, partOfTime * (performance.now() - begin));
  };
  const look = () => {
    const now = performance.now();
    if (now - first >= longest || now - latest >= pauseMs) whenIdle(storeNow);
    else setTimeout(look, pauseMs);
  };
  return () => {
    latest = performance.now();
    if (isAwaited) return;
    isAwaited = true;
    first = latest;
    setTimeout(look, waitMs);
  };
}
