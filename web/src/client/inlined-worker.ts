// gpt2-inlined.js: the worker and its engines in one module, which starts the worker from a blob. Part of gpt2.bundle.js, too.
import { inflate } from "../shared/inflate.js";
import { trustedScriptUrl } from "../shared/script-address.js";

/** Inserted by web/scripts/one-file.mjs: the packed script of the worker, and the code that goes before it. */
declare const GPT2_WORKER: { engine: string; script: string };

/** The blob's address: created at the first use, and kept for later workers. */
let address: string | undefined;

export async function prepareInlined(): Promise<void> {
  if (address !== undefined) return;
  const { engine, script } = GPT2_WORKER; // named only once, because each mention inserts all of it
  const here = `const gpt2Module=${JSON.stringify(import.meta.url)};`;
  const parts = [engine, here, await inflate(script)];
  address ??= URL.createObjectURL(new Blob(parts, { type: "text/javascript" }));
}

/** Call it only after `prepareInlined` has resolved. */
export const startPrepared = (): Worker => new Worker(trustedScriptUrl(address ?? ""), { name: "gpt2" });

export async function startInlined(): Promise<Worker> {
  await prepareInlined();
  return startPrepared();
}
