// How fast this device reads a model's weights, measured once in a visit, when a model is to be chosen.
import { median } from "../device/floor.js";
import { Readers } from "../device/readers.js";

/** More than the caches of most devices hold, and little beside what a model takes. */
const bytes = 96 * 1024 * 1024;
const readings = 3;
/** More threads seldom read faster. */
const mostThreads = 8;

async function measure(): Promise<number> {
  const cores = (navigator as Partial<Navigator>).hardwareConcurrency ?? 1;
  const readers = await Readers.open(crossOriginIsolated ? Math.min(cores, mostThreads) : 1, bytes);
  try {
    const speeds: number[] = [];
    for (let reading = 0; reading < readings; reading += 1) speeds.push(await readers.read());
    return median(speeds);
  } finally {
    readers.close();
  }
}

let measured: Promise<number | undefined> | undefined;

/** Bytes per second; undefined where this device cannot tell. */
export function readingSpeed(): Promise<number | undefined> {
  measured ??= measure().catch(() => (measured = undefined));
  return measured;
}
