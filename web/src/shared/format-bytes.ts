// Sizes as people read them.

/** With two digits at least: "12 kB", "1.3 MB", "213 MB", "4.3 GB". */
export function formatBytes(bytes: number): string {
  if (bytes < 1e6) return `${(bytes / 1e3).toFixed(0)} kB`;
  if (bytes < 1e9) return `${(bytes / 1e6).toFixed(bytes < 1e7 ? 1 : 0)} MB`;
  return `${(bytes / 1e9).toFixed(1)} GB`;
}

/** How fast a download is and how long it still takes: "5.3 MB/s, 12 s left"; "" until it is known. */
export function formatPace(bytesPerSecond: number, secondsLeft: number | null): string {
  if (bytesPerSecond === 0 || !secondsLeft) return "";
  const time = secondsLeft < 60 ? `${Math.ceil(secondsLeft)} s` : `${Math.ceil(secondsLeft / 60)} min`;
  return `${formatBytes(bytesPerSecond)}/s, ${time} left`;
}
