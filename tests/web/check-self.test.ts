import { expect, it, vi } from "vitest";
import { hashedScript, hashedWorker, withoutHash } from "../../web/scripts/hash-files.mjs";
import { damageOf } from "../../web/src/worker/check-self.js";

const url = "https://site/gpt2-worker.js";
const script = 'postMessage("ä");\n//# sourceMappingURL=gpt2-worker.js.map';

/** The result of the check for a worker's script with these bytes. */
const problemOf = (bytes: string | Uint8Array) =>
  damageOf(url, async () => new Response(bytes as Uint8Array<ArrayBuffer>));

function flipped(text: string, at: number): Uint8Array {
  const bytes = new TextEncoder().encode(text);
  bytes[at] = (bytes[at] ?? 0) ^ 1;
  return bytes;
}

it("damageOf reports nothing for an unchanged script, and reads the browser's cache first", async () => {
  const ask = vi.fn(async () => new Response(hashedWorker(script)));
  expect(await damageOf(url, ask)).toBeUndefined();
  expect(ask).toHaveBeenCalledWith(url, expect.objectContaining({ cache: "force-cache" }));
});

it("damageOf names the script and both hashes if one bit differs", async () => {
  for (const at of [0, 13, script.length]) {
    expect(await problemOf(flipped(hashedWorker(script), at))).toMatch(
      /^https:\/\/site\/gpt2-worker\.js has SHA-256 [0-9a-f]{64}, expected [0-9a-f]{64}$/,
    );
  }
  const last = new TextEncoder().encode(hashedWorker(script)).length - 1;
  expect(await problemOf(flipped(hashedWorker(script), last))).toBeDefined();
});

it("damageOf reports nothing for a script that others have rebuilt, or that has no hash", async () => {
  expect(await problemOf(script)).toBeUndefined();
  expect(await problemOf(hashedScript(script))).toBeUndefined();
  expect(await problemOf(`import "/@vite/env";\n${hashedWorker(script)}`)).toBeUndefined();
  expect(await problemOf("")).toBeUndefined();
});

it("damageOf reports nothing if the script cannot be read, and does not wait forever", async () => {
  expect(await damageOf(url, () => Promise.reject(new TypeError("no")))).toBeUndefined();
  vi.useFakeTimers();
  const silent = damageOf(url, () => new Promise(() => {}));
  await vi.advanceTimersByTimeAsync(3000);
  expect(await silent).toBeUndefined();
});

it("damageOf makes no request for a script that is not on a host", async () => {
  const ask = vi.fn();
  expect(await damageOf("file:///src/worker.js", ask)).toBeUndefined();
  expect(ask).not.toHaveBeenCalled();
});

it("withoutHash returns the script without its hash", () => {
  expect(withoutHash(hashedWorker(script))).toBe(script);
  expect(withoutHash(hashedScript(script))).toBe(script);
});
