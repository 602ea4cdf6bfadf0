// Measures how fast this device reads a model's weights, once per visit, when the visitor chooses a model.
import type { PageState } from "../state/page-state.js";
import { median } from "./floor.js";
import { Readers } from "./readers.js";

/** More than the caches of most devices, and little compared with a model. */
const bytes = 96 * 1024 * 1024;
const readings = 3;
/** More threads rarely read faster. */
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

/** The measurement of this visit. */
const measured = new WeakMap<PageState, Promise<number | undefined>>();

/** Bytes per second; undefined if it cannot be measured, or the device is busy. */
export async function readingSpeed(state: PageState): Promise<number | undefined> {
  // Writing and loading also read memory: they and the measurement would slow each other.
  const isDisturbed = () =>
    state.activity.peek().kind === "writing" || state.coming.peek().kind === "loading";
  const known = measured.get(state);
  if (known) return known;
  if (isDisturbed()) return undefined;
  const measuring = measure()
    .catch(() => undefined)
    .then((speed) => {
      if (speed !== undefined && !isDisturbed()) return speed;
      measured.delete(state); // the next request measures again
      return undefined;
    });
  measured.set(state, measuring);
  return measuring;
}
