// Locks between tabs, by Web Locks: the browser releases them when a tab ends for any reason.

const prefix = "gpt2-wasm";
const loadPrefix = `${prefix} load `;

function locks(): LockManager | undefined {
  return (navigator as { locks?: LockManager }).locks;
}

/** How long to wait for a holder that makes no progress: its network may be gone, or its tab asleep. */
const patienceMs = 20_000;

/** Runs `change` while no other tab changes the list of models. Without locks, runs it at once. */
export async function withStoreLock<T>(change: () => Promise<T>): Promise<T> {
  const manager = locks();
  if (!manager) return change();
  const waiting = new AbortController();
  const giveUp = () =>
    waiting.abort(new Error("another tab has been changing the stored models for too long"));
  const timer = setTimeout(giveUp, patienceMs);
  try {
    return await manager.request(`${prefix} store`, { signal: waiting.signal }, () => {
      clearTimeout(timer);
      return change();
    });
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Marks the model of `digest` as being loaded. Until you call the function that this resolves to, other tabs remove neither
 * the model nor files that no record lists yet.
 */
export async function markLoading(digest: string): Promise<() => void> {
  const manager = locks();
  if (!manager) return () => {};
  return new Promise((resolve) => {
    const hold = () => new Promise<void>((release) => resolve(release));
    manager.request(loadPrefix + digest, { mode: "shared" }, hold).catch(() => resolve(() => {}));
  });
}

/** The digests of the models that any tab is loading; undefined if that is unknown. */
export async function loadsUnderWay(): Promise<Set<string> | undefined> {
  const { held } =
    (await locks()
      ?.query()
      .catch(() => undefined)) ?? {};
  const names = held?.map(({ name = "" }) => name);
  const loads = names?.filter((name) => name.startsWith(loadPrefix));
  return loads && new Set(loads.map((name) => name.slice(loadPrefix.length)));
}

/** The pause between two checks whether the holder of a lock makes progress. */
const lookMs = 1000;

/**
 * Waits for the right to write the file of `name`, and resolves to the function that gives it back. Resolves to undefined
 * without locks, or if the tab that has the right makes no progress. `progress` returns the size of the file.
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
  let lastChange = performance.now();
  const timer = setInterval(() => {
    void progress().then((now) => {
      if (now !== last) [last, lastChange] = [now, performance.now()];
      if (performance.now() - lastChange > patienceMs) waiting.abort();
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
    return undefined; // also if locks are refused, as to pages without an origin
  } finally {
    clearInterval(timer);
    signal.removeEventListener("abort", onAbort);
  }
}
