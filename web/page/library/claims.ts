// Each text belongs to at most one open tab. A tab that is closed, killed or left releases its text.

import { once } from "../state/once.js";
import { path } from "../state/storage.js";

/** Prefix of an id in the name of a text's lock, and of what the local storage has of it. */
export const prefix = `gpt2-text ${path} `;

type Release = () => void;

/** Browsers offer locks only to secure pages. */
const hasLocks = (): boolean => "locks" in navigator;

const claimLock = (name: string, patienceMs: number): Promise<Release | undefined> =>
  new Promise((resolve) => {
    const options = patienceMs === 0 ? { ifAvailable: true } : { signal: AbortSignal.timeout(patienceMs) };
    const hold = (lock: Lock | null) =>
      lock ? new Promise<void>((release) => resolve(() => release())) : resolve(undefined);
    navigator.locks.request(name, options, hold).catch(() => resolve(undefined));
  });

/** How long to wait for the other tabs without locks. */
const answerMs = 300;

const held = new Set<string>();

/** The channel to the other tabs, whose questions are answered from then on. */
const talk = once(() => {
  const channel = new BroadcastChannel("gpt2-texts");
  channel.addEventListener("message", ({ data }: MessageEvent<{ ask?: string }>) => {
    if (data.ask !== undefined && held.has(data.ask)) channel.postMessage({ held: data.ask });
  });
  return channel;
});

/** Which of `names` other tabs hold or are about to claim. */
async function askOthers(names: readonly string[]): Promise<ReadonlySet<string | undefined>> {
  const others = talk();
  const answers = new Set<string | undefined>();
  const listen = ({ data }: MessageEvent<{ held?: string }>) => void answers.add(data.held);
  others.addEventListener("message", listen);
  for (const name of names) others.postMessage({ ask: name });
  await new Promise((resolve) => setTimeout(resolve, answerMs));
  others.removeEventListener("message", listen);
  return answers;
}

/** Asks the other tabs. Two that ask at the same time both find the name taken. */
async function claimByAsking(name: string): Promise<Release | undefined> {
  if (held.has(name)) return undefined;
  held.add(name);
  const answers = await askOthers([name]);
  const release = () => void held.delete(name);
  if (!answers.has(name)) return release;
  release();
  return undefined;
}

/**
 * Claims the text `id` for this tab. Returns a function that releases it; undefined if another tab still holds it after
 * `patienceMs`.
 */
export const claim = (id: string, patienceMs: number): Promise<Release | undefined> =>
  hasLocks() ? claimLock(prefix + id, patienceMs) : claimByAsking(prefix + id);

/** Which of the texts `ids` are claimed; without locks, by other tabs. */
export async function claimedOf(ids: readonly string[]): Promise<readonly string[]> {
  const claimed = hasLocks()
    ? new Set((await navigator.locks.query()).held?.map(({ name }) => name))
    : await askOthers(ids.map((id) => prefix + id));
  return ids.filter((id) => claimed.has(prefix + id));
}
