// Lets the page know when the worker has ended, whatever the reason: a lock is held until then.

/** Holds a lock of its own for good; resolves to its name once it has it, to null where there are no locks. */
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
