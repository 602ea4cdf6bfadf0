// The engine's builds as files on a static host.
import { checkFile } from "../model/check-file.js";
import { chunksOf, fetchFile } from "../model/sources/model-source.js";
import { Attempt, steadyFetch, type RetryOptions } from "../model/sources/steady-fetch.js";
import { LoadError, reasonOf } from "../shared/errors.js";
import { failureOf } from "../shared/failures.js";
import { joined } from "../shared/joined.js";
import { namingPolicy, policyFetch } from "../shared/policy.js";
import { ofThisRelease } from "../shared/release.js";
import { asOwnScript, isCrossOrigin } from "../shared/script-address.js";
import type { Variant } from "../shared/types.js";
import type { BuildAddresses } from "./addresses.js";
import { importAsItIs } from "./import-as-it-is.js";
import type { ModuleFactory } from "../model/wasm-instance.js";
import type { BuildSource, EngineScript } from "./start-engine.js";

export class UrlBuilds implements BuildSource {
  private readonly addresses: Readonly<Record<Variant, BuildAddresses>>;
  /** If the worker runs from a blob, what it starts must, too. */
  private readonly isInBlob: boolean;
  private readonly ask: typeof fetch;

  constructor(
    addresses: Readonly<Record<Variant, BuildAddresses>>,
    isInBlob: boolean,
    ask: typeof fetch = policyFetch,
  ) {
    this.addresses = addresses;
    this.isInBlob = isInBlob;
    this.ask = ask;
  }

  async importScript(variant: Variant, signal: AbortSignal, patience: RetryOptions): Promise<EngineScript> {
    const url = ofThisRelease(this.addresses[variant].script());
    const attempt = new Attempt(signal, patience.stallMs);
    try {
      return await attempt.watch(this.scriptFrom(url, url));
    } catch {
      signal.throwIfAborted();
    } finally {
      attempt.end();
    }
    patience.onRetry(`${url} could not be loaded`);
    // A browser gives no reason. The file's own response does, if it is at fault. It also replaces a damaged file in the
    // browser's cache.
    const response = await fetchFile(url, signal, steadyFetch(this.ask, patience), reload);
    const type = response.headers.get("content-type");
    if (!/javascript/.test(type ?? "")) {
      await response.body?.cancel();
      const found = type ? `as "${type}"` : "without a type";
      throw new LoadError("network", `the host serves ${url} ${found}, expected "text/javascript"`);
    }
    await readBody(url, response, signal);
    const again = new Attempt(signal, patience.stallMs);
    try {
      // The host may have been unreachable for a moment. Browsers remember a failure for each address.
      return await again.watch(this.scriptFrom(url, `${url}#again`));
    } catch (error) {
      signal.throwIfAborted();
      if (again.signal.aborted) throw new LoadError("network", `${url} did not arrive: ${reasonOf(error)}`);
      throw new LoadError("unsupported", `${url} was loaded, but cannot be run: ${failureOf(error).message}`);
    } finally {
      again.end();
    }
  }

  private async scriptFrom(url: string, address: string): Promise<EngineScript> {
    const createModule = await importFactory(address);
    // A worker from a data: address has no origin and cannot share memory.
    const isApart = this.isInBlob || isCrossOrigin(url) || url.startsWith("data:");
    return { createModule, threadScript: isApart ? asOwnScript(url) : url };
  }

  async compile(variant: Variant, signal: AbortSignal, patience: RetryOptions): Promise<WebAssembly.Module> {
    const url = ofThisRelease(this.addresses[variant].code());
    const attempt = new Attempt(signal, patience.stallMs);
    try {
      // The host's own response: browsers store code that they compile while it streams.
      return await attempt.watch(compileFile(url, attempt.signal, this.ask, {}, () => attempt.hear()));
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof LoadError && error.code !== "network" && error.code !== "corrupt") throw error;
      patience.onRetry(reasonOf(error));
    } finally {
      attempt.end();
    }
    return compileFile(url, signal, steadyFetch(this.ask, patience), reload);
  }
}

/** A cache may keep a damaged file forever: the second request bypasses all caches. */
const reload: RequestInit = { cache: "reload" };

async function importFactory(url: string): Promise<ModuleFactory> {
  const module = (await namingPolicy(url, () => importAsItIs(url))) as { default?: ModuleFactory };
  if (!module.default) throw new Error("it does not contain the engine"); // an empty file is a valid module
  return module.default;
}

/** Calls `onBytes` whenever bytes arrive. */
async function readBody(
  url: string,
  response: Response,
  signal: AbortSignal,
  onBytes?: () => void,
): Promise<Uint8Array<ArrayBuffer>> {
  const stream = response.body ?? new Blob([]).stream();
  const chunks: Uint8Array[] = [];
  for await (const chunk of chunksOf({ stream, size: undefined }, url, signal)) {
    chunks.push(chunk.slice());
    onBytes?.();
  }
  return joined(chunks);
}

async function compileFile(
  url: string,
  signal: AbortSignal,
  ask: typeof fetch,
  init: RequestInit,
  onBytes?: () => void,
): Promise<WebAssembly.Module> {
  const response = await fetchFile(url, signal, ask, init);
  const canStream = response.headers.get("content-type") === "application/wasm"; // required by browsers
  const compiling = canStream ? WebAssembly.compileStreaming(response.clone()) : undefined;
  compiling?.catch(() => {}); // an error of the file itself is reported instead
  const bytes = await readBody(url, response, signal, onBytes);
  await checkFile(url, bytes);
  try {
    return await (compiling ?? WebAssembly.compile(bytes));
  } catch (error) {
    signal.throwIfAborted();
    throw failureOf(error);
  }
}
