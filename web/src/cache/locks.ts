// What one tab does alone: a Web Lock is given back whatever its holder dies of.

const prefix = "gpt2-wasm";

function locks(): LockManager | undefined {
  return (navigator as { locks?: LockManager }).locks;
}

/** Runs `change` while no other tab changes what the store lists; at once where there are no locks. */
export async function whileAlone<T>(change: () => Promise<T>): Promise<T> {
  const manager = locks();
  if (!manager) return change();
  return manager.request(`${prefix} store`, change);
}

/** How often it is looked whether the holder of a lock gets on. */
const lookMs = 1000;
/** A holder that gets on with nothing for so long is not waited for: its network may be gone, or its tab asleep. */
const patienceMs = 20_000;

/**
 * The right to write the file of `name`, which is to be given back by calling what this resolves to; undefined where there
 * are no locks, or where whoever has it does not get on. `progress` tells how far it is.
 */
export async function takeWriting(
  name: string,
  signal: AbortSignal,
  progress: () => Promise<unknown>,
): Promise<(() => void) | undefined> {
  const manager = locks();
  if (!manager) return undefined;
  const waiting = new AbortController();
  const onAbort = () => waiting.abort();
  signal.addEventListener("abort", onAbort);
  let last: unknown;
  let lastChange = Date.now();
  const timer = setInterval(() => {
    void progress().then((now) => {
      if (now !== last) [last, lastChange] = [now, Date.now()];
      if (Date.now() - lastChange > patienceMs) waiting.abort();
    }, onAbort);
  }, lookMs);
  try {
    return await new Promise<() => void>((resolve, reject) => {
      manager
        .request(`${prefix} ${name}`, { signal: waiting.signal }, () => {
          return new Promise<void>((giveBack) => resolve(giveBack));
        })
        .catch(reject);
    });
  } catch {
    signal.throwIfAborted();
    return undefined; // also where locks are refused, as to pages without an origin
  } finally {
    clearInterval(timer);
    signal.removeEventListener("abort", onAbort);
  }
}
