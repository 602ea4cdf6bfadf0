// Decides when to store the text: in the first pause after a change, or soon without one.

/** Longest time after the first unstored change. */
const waitMs = 500;

/** This long without a change is a pause. */
const pauseMs = 300;

/** Without pauses, storing takes at most one part in this many of the page's time. */
const partOfTime = 20;

/** Returns a function to call after each change. */
export function storeSoon(store: () => void): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let first = 0;
  let longest = waitMs;
  const storeNow = () => {
    timer = undefined;
    const begin = performance.now();
    store();
    longest = Math.max(waitMs, partOfTime * (performance.now() - begin));
  };
  return () => {
    const now = performance.now();
    if (timer === undefined) first = now;
    clearTimeout(timer);
    timer = setTimeout(storeNow, Math.min(pauseMs, Math.max(0, first + longest - now)));
  };
}
