// How fast this device reads a model's weights, measured once in a visit, when a model is to be chosen.
import type { PageState } from "../state/page-state.js";
import { median } from "./floor.js";
import { Readers } from "./readers.js";

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

/** Measured once in a visit, as far as it is known. */
const measured = new WeakMap<PageState, Promise<number | undefined>>();

/** Bytes per second; undefined where this device cannot tell, or does something else. */
export async function readingSpeed(state: PageState): Promise<number | undefined> {
  // What writes or loads reads memory, too: either would slow the other.
  const isDisturbed = () => state.activity.peek().kind === "writing" || state.loading.peek() !== undefined;
  const known = measured.get(state);
  if (known) return known;
  if (isDisturbed()) return undefined;
  const measuring = measure()
    .catch(() => undefined)
    .then((speed) => {
      if (speed !== undefined && !isDisturbed()) return speed;
      measured.delete(state); // it is measured again when it is next asked for
      return undefined;
    });
  measured.set(state, measuring);
  return measuring;
}
