// The progress of a load: its bytes, its rate and the remaining time.
import type { LoadProgress } from "../shared/types.js";

/** The shortest pause between two reports of bytes. */
const pauseMs = 50;
/** The period over which the rate is measured. */
const windowMs = 3000;
/** A rate over less time is unreliable. */
const shortestMs = 200;

export interface LoadReport {
  /** Begins to measure the rate. Call it when the other files have arrived: while they share the connection, the rate is too low. */
  beginRate: () => void;
  /** Reports changed values. */
  set: (changed: Partial<LoadProgress>) => void;
  /** Reports the total of the weights' bytes that have arrived. */
  onBytes: (loadedBytes: number, source: LoadProgress["source"]) => void;
  /** Reports why a file is requested again; null when its bytes arrive again. */
  onRetry: (reason: string | null) => void;
}

export function reportTo(tell: (progress: LoadProgress) => void): LoadReport {
  let progress: LoadProgress = {
    stage: "engine",
    loadedBytes: 0,
    totalBytes: 0,
    bytesPerSecond: 0,
    secondsLeft: null,
    source: "network",
  };
  let toldAt = 0;
  let later: ReturnType<typeof setTimeout> | undefined;
  /** The bytes at several times in the last seconds. */
  const samples: [at: number, bytes: number][] = [];
  let hasBegun = false;
  const set = (changed: Partial<LoadProgress>) => {
    clearTimeout(later);
    later = undefined;
    progress = { ...progress, ...changed };
    tell(progress);
  };
  const onBytes: LoadReport["onBytes"] = (loadedBytes, source) => {
    const now = performance.now();
    // A host that states no size may send more than was assumed.
    const totalBytes = progress.totalBytes && Math.max(progress.totalBytes, loadedBytes);
    if (now < toldAt + pauseMs && loadedBytes !== totalBytes) {
      progress = { ...progress, loadedBytes, totalBytes, source };
      later ??= setTimeout(() => set({}), pauseMs); // perhaps no more bytes arrive for a while
      return;
    }
    toldAt = now;
    if (hasBegun) samples.push([now, loadedBytes]);
    const [[at, bytes] = [now, 0]] = samples;
    const ms = now - at;
    if (ms > windowMs) samples.shift();
    const bytesPerSecond = ms < shortestMs ? 0 : Math.max(0, (loadedBytes - bytes) / ms) * 1000;
    const secondsLeft = totalBytes && bytesPerSecond ? (totalBytes - loadedBytes) / bytesPerSecond : null;
    const stage = loadedBytes === totalBytes ? "check" : "download";
    set({ stage, loadedBytes, totalBytes, bytesPerSecond, secondsLeft, source });
  };
  return {
    beginRate: () => (hasBegun = true),
    set,
    onBytes,
    onRetry(reason) {
      const { retry: _, ...rest } = progress;
      progress = rest;
      set(reason === null ? {} : { retry: reason });
    },
  };
}
