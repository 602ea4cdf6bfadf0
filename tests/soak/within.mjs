// A time in which something must have ended. Used by the page and by what drives it.

/** What `work` gives; rejects where it has not after `ms`. */
export async function within(ms, work) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`hangs: has not ended after ${ms / 1000} s`)), ms);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
