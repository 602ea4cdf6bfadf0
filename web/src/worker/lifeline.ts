// Shows the page when the worker has ended for any reason: the worker holds a lock until then.

/** Holds a lock of its own forever. Resolves to its name, or to null without locks. */
export async function holdLock(locks: LockManager | undefined): Promise<string | null> {
  if (!locks) return null; // the page is not served securely
  const name = `gpt2-wasm ${crypto.getRandomValues(new Uint32Array(4)).join("-")}`;
  return new Promise((resolve) => {
    locks
      .request(name, () => {
        resolve(name);
        return new Promise(() => {});
      })
      .catch(() => resolve(null)); // refused, as to pages without an origin
  });
}
