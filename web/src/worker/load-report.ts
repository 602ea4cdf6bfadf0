// What a load tells of its progress: how much, how fast, and until when.
import type { LoadProgress } from "../shared/types.js";

/** Bytes are told of so often at most. */
const pauseMs = 50;
/** What the rate is measured over. */
const windowMs = 3000;
/** A rate over less time than this is chance. */
const shortestMs = 200;

export interface LoadReport {
  /** Tells of what has changed. */
  set: (changed: Partial<LoadProgress>) => void;
  /** So many bytes of the weights are there. */
  onBytes: (loadedBytes: number, source: LoadProgress["source"]) => void;
  /** A file is asked for once more, for this reason; null: its bytes come again. */
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
  /** When how many bytes were there, in the last seconds. */
  const samples: [at: number, bytes: number][] = [];
  const set = (changed: Partial<LoadProgress>) => {
    clearTimeout(later);
    later = undefined;
    progress = { ...progress, ...changed };
    tell(progress);
  };
  const onBytes: LoadReport["onBytes"] = (loadedBytes, source) => {
    const now = performance.now();
    // A host that does not say how much there is may give more than it was taken for.
    const totalBytes = progress.totalBytes && Math.max(progress.totalBytes, loadedBytes);
    if (now < toldAt + pauseMs && loadedBytes !== totalBytes) {
      progress = { ...progress, loadedBytes, totalBytes, source };
      later ??= setTimeout(() => set({}), pauseMs); // perhaps they are the last for a while
      return;
    }
    toldAt = now;
    samples.push([now, loadedBytes]);
    const [[at, bytes] = [now, 0]] = samples;
    const ms = now - at;
    if (ms > windowMs) samples.shift();
    const bytesPerSecond = ms < shortestMs ? 0 : Math.max(0, (loadedBytes - bytes) / ms) * 1000;
    const secondsLeft = totalBytes && bytesPerSecond ? (totalBytes - loadedBytes) / bytesPerSecond : null;
    const stage = loadedBytes === totalBytes ? "check" : "download";
    set({ stage, loadedBytes, totalBytes, bytesPerSecond, secondsLeft, source });
  };
  return {
    set,
    onBytes,
    onRetry(reason) {
      const { retry: _, ...rest } = progress;
      progress = rest;
      set(reason === null ? {} : { retry: reason });
    },
  };
}
