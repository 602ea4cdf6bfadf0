// Starts the worker: beside this module, or in a folder that the caller names.
import { noWorkerFailure } from "../shared/failures.js";
import { PolicyWatch } from "../shared/policy.js";
import { usualStallMs } from "../shared/protocol.js";
import { ofThisRelease } from "../shared/release.js";
import { asOwnScript, isCrossOrigin, trustedScriptUrl } from "../shared/script-address.js";
import { Connection } from "./connection.js";
import { SturdyWorker } from "./sturdy-worker.js";
import { waitForLock } from "./wait-for-lock.js";

const script = "gpt2-worker.js";

/** Written literally, so that bundlers find it. They copy the worker, and the engine that it names, to their output. */
const startBeside = () =>
  new Worker(new URL("./gpt2-worker.js", import.meta.url), { type: "module", name: "gpt2" });

/** The address that startBeside uses. A bundler may have rewritten it, so it is read from the call itself. */
function addressBeside(): string {
  const native = globalThis.Worker;
  let address = "";
  const spy = class {
    constructor(url: URL | string) {
      address = new URL(url, location.href).href;
    }
  };
  try {
    globalThis.Worker = spy as unknown as typeof Worker;
    startBeside();
  } finally {
    globalThis.Worker = native;
  }
  return address;
}

const start = (address: string) => new Worker(trustedScriptUrl(address), { type: "module", name: "gpt2" });

/**
 * A bundler that does not follow addresses leaves the worker behind. It does follow imports, so it includes the module
 * that contains worker and engine. If this module is not bundled, a missing worker is the host's error.
 */
const isBundled = !/^https?:.*\/gpt2\.js([?#]|$)/.test(import.meta.url);
const startInlined = async () => (await import("./fallback.js")).startInlined();

/** The time that a busy browser takes to start a worker whose script has arrived. */
const startMs = 5000;

/**
 * The worker of the folder `baseUrl` (absolute, with a slash at the end), or the one beside this module. If its script
 * does not arrive within `stallMs`, it is requested again, as far as the browser allows.
 */
export function startWorker(baseUrl?: string, stallMs = usualStallMs): Connection {
  const address = () => (baseUrl === undefined ? addressBeside() : new URL(script, baseUrl).href);
  const ways = [
    // The page's policy may require trusted addresses.
    () => {
      if (isCrossOrigin(address())) throw new DOMException("it is at another origin", "SecurityError");
      return start(address());
    },
    // For other origins, and for hosts that isolate the document but send workers without the headers.
    () => start(asOwnScript(address())),
  ];
  if (baseUrl === undefined) ways.unshift(startBeside);
  // Bypasses a cache that holds the worker of another release.
  const renew = () => {
    const fresh = ofThisRelease(new URL(address()));
    return start(isCrossOrigin(fresh) ? asOwnScript(fresh) : fresh);
  };
  const policy = new PolicyWatch();
  try {
    const last = baseUrl === undefined && isBundled ? startInlined : undefined;
    const worker = new SturdyWorker(ways, renew, stallMs + startMs, last);
    return new Connection(worker, script, waitForLock, policy);
  } catch (error) {
    policy.end();
    throw noWorkerFailure(error); // there are no workers, or none from here (file://, a content security policy)
  }
}
