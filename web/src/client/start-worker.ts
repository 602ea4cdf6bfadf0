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

const start = (address: string) => new Worker(trustedScriptUrl(address), { type: "module", name: "gpt2" });

/**
 * Whether a bundler has included this module. It has then renamed the worker or left it behind, so that only `startBeside`
 * knows its address.
 */
const isBundled = !/^https?:.*\/gpt2\.js([?#]|$)/.test(import.meta.url);

/**
 * Bundlers follow imports, so the app includes the module that contains worker and engine. It replaces a worker that the
 * bundler left behind, or that the browser refuses to start from its address.
 */
const startInlined = async () => (await import("./fallback.js")).startInlined();

/** The time that a busy browser takes to start a worker whose script has arrived. */
const startMs = 5000;

/** The worker at `address`, which is the one beside this module if `isBeside`. */
function startFrom(address: URL, isBeside: boolean, silentMs: number): SturdyWorker {
  const ways = [
    // The page's policy may require trusted addresses.
    () => {
      if (isCrossOrigin(address.href)) throw new DOMException("it is at another origin", "SecurityError");
      return start(address.href);
    },
    // For other origins, and for hosts that isolate the document but send workers without the headers.
    () => start(asOwnScript(address.href)),
  ];
  if (isBeside) ways.splice(1, 0, startBeside); // a bundler may have named its output gpt2.js
  // Bypasses a cache that holds the worker of another release.
  const renew = () => {
    const fresh = ofThisRelease(new URL(address));
    return start(isCrossOrigin(fresh) ? asOwnScript(fresh) : fresh);
  };
  return new SturdyWorker(ways, renew, silentMs);
}

/**
 * The worker of the folder `baseUrl` (absolute, with a slash at the end), or the one beside this module. If its script
 * does not arrive within `stallMs`, it is requested again, as far as the browser allows.
 */
export function startWorker(baseUrl?: string, stallMs = usualStallMs): Connection {
  const isBeside = baseUrl === undefined;
  const silentMs = stallMs + startMs;
  const policy = new PolicyWatch();
  try {
    const worker =
      isBeside && isBundled
        ? new SturdyWorker([startBeside], undefined, silentMs, startInlined)
        : startFrom(new URL(script, baseUrl ?? import.meta.url), isBeside, silentMs);
    return new Connection(worker, script, waitForLock, policy);
  } catch (error) {
    policy.end();
    throw noWorkerFailure(error); // there are no workers, or none from here (file://, a content security policy)
  }
}
