// Keeps the text while it is written: of a tab that is ended in the background, or for its memory, the page is told nothing.

/** After a change. */
const leastWaitMs = 1000;

/** Of the page's time keeping takes no more than one part in so many, however long the text is. */
const partOfTime = 100;

const whenIdle = (then: () => void) => {
  // Safari has none; and a page that is never idle keeps its text, too.
  if (typeof requestIdleCallback === "undefined") then();
  else requestIdleCallback(then, { timeout: 2000 });
};

/** Calls `keep` when the page is hidden, and, in a pause, some time after what this gives was called. */
export function keepingOften(keep: () => void): () => void {
  let wait = leastWaitMs;
  let isAwaited = false;
  const keepNow = () => {
    isAwaited = false;
    const begin = performance.now();
    keep();
    wait = Math.max(leastWaitMs, partOfTime * (performance.now() - begin));
  };
  document.addEventListener("visibilitychange", () => {
    if (document.visibilityState === "hidden") keepNow();
  });
  return () => {
    if (isAwaited) return;
    isAwaited = true;
    setTimeout(() => whenIdle(keepNow), wait);
  };
}
