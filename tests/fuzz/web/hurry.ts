// Lets a target spend its time on inputs. The target calls these functions once, before the first input.
import { createHash } from "node:crypto";

/** Makes pauses below ten seconds a hundred times as short. Longer ones are limits, which stay. */
export function shortenPauses(): void {
  const { setTimeout } = globalThis;
  const shortened = (call: () => void, ms: number) => setTimeout(call, ms < 10_000 ? ms / 100 : ms);
  Object.assign(globalThis, { setTimeout: shortened });
}

/** Hashes on the main thread: for a few bytes, the way to a helper thread and back takes most of the time. */
export function hashAtOnce(): void {
  const digest = (_: string, bytes: Uint8Array): Promise<ArrayBuffer> => {
    const hash = createHash("sha256").update(bytes).digest();
    return Promise.resolve(Uint8Array.from(hash).buffer);
  };
  Object.defineProperty(crypto.subtle, "digest", { value: digest });
}
