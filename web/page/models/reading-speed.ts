// How fast this device reads a model's weights, measured once in a visit, when a model is to be chosen.
import { median } from "./floor.js";
import { Readers } from "./readers.js";
import { isLoading } from "./loading.js";
import { isWriting } from "../assistant/writing.js";

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

/** What writes or loads reads memory, too: either would slow the other. */
const isDisturbed = () => isWriting() || isLoading();

let measured: Promise<number | undefined> | undefined;

/** As `measure`; undefined, and measured again when it is next asked for, where that came to nothing. */
async function measureAlone(): Promise<number | undefined> {
  const speed = await measure().catch(() => undefined);
  if (speed !== undefined && !isDisturbed()) return speed;
  measured = undefined;
  return undefined;
}

/** Bytes per second; undefined where this device cannot tell, or does something else. */
export async function readingSpeed(): Promise<number | undefined> {
  if (measured) return measured;
  if (isDisturbed()) return undefined;
  measured = measureAlone();
  return measured;
}
