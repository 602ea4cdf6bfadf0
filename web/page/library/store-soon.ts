// When the text is stored: soon after a change, in a pause if there is one, and at once when the page is hidden. A page
// in the background is killed without notice.

/** Since the first change that is not stored. */
const waitMs = 500;

/** So long without a change is a pause. */
const pauseMs = 300;

/** Without a pause, storing takes at most one part in so many of the page's time. */
const partOfTime = 20;

const whenIdle = (then: () => void) => {
  // Safari has none; and a page that is never idle stores its text, too.
  if (typeof requestIdleCallback === "undefined") then();
  else requestIdleCallback(then, { timeout: 200 });
};

/** Returns a function to call after each change; `store` then runs in the next pause, or after `waitMs` without one. */
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
