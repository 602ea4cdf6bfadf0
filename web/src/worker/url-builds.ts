// The engine's builds as files on a static host.
import { fetchFile } from "../loader/model-source.js";
import { Attempt, steadyFetch, usualStallMs } from "../loader/steady-fetch.js";
import { isLoadError, LoadError } from "../shared/errors.js";
import { failureOf } from "../shared/failures.js";
import { ofThisRelease } from "../shared/release.js";
import { asOwnScript, isForeign } from "../shared/script-address.js";
import type { Variant } from "../shared/types.js";
import type { BuildAddresses } from "./addresses.js";
import type { EngineFactory } from "./engine.js";
import type { BuildSource, EngineScript } from "./start-engine.js";

export class UrlBuilds implements BuildSource {
  private readonly askPatiently: typeof fetch;

  private readonly addresses: Readonly<Record<Variant, BuildAddresses>>;
  /** The worker runs from a blob: what it starts has to, too. */
  private readonly isInBlob: boolean;
  private readonly ask: typeof fetch;

  constructor(
    addresses: Readonly<Record<Variant, BuildAddresses>>,
    isInBlob: boolean,
    ask: typeof fetch = (...args) => fetch(...args),
  ) {
    this.addresses = addresses;
    this.isInBlob = isInBlob;
    this.ask = ask;

    this.askPatiently = steadyFetch(ask, { stallMs: usualStallMs, onRetry: () => {} });
  }

  async importScript(variant: Variant, signal: AbortSignal): Promise<EngineScript> {
    const url = ofThisRelease(this.addresses[variant].script());
    try {
      return await this.scriptFrom(url, url);
    } catch {
      // The file itself tells an error of the host from one of the browser.
    }
    // A browser does not say why: the file's own answer does, where it is at fault.
    const response = await fetchFile(url, signal, this.askPatiently);
    await response.body?.cancel();
    const type = response.headers.get("content-type");
    if (!/javascript/.test(type ?? "")) {
      const found = type ? `as "${type}"` : "without a type";
      throw new LoadError("network", `the host gives ${url} ${found}: it has to say "text/javascript"`);
    }
    try {
      // The host may have been away for a moment. Browsers remember for each address that it failed.
      return await this.scriptFrom(url, `${url}#again`);
    } catch (error) {
      const { message } = failureOf(error);
      throw new LoadError("unsupported", `${url} is there, but cannot be run: ${message}`);
    }
  }

  private async scriptFrom(url: string, address: string): Promise<EngineScript> {
    const createModule = await importFactory(address);
    return { createModule, threadScript: this.isInBlob || isForeign(url) ? asOwnScript(url) : url };
  }

  async compile(variant: Variant, signal: AbortSignal): Promise<WebAssembly.Module> {
    const url = ofThisRelease(this.addresses[variant].code());
    const attempt = new Attempt(signal, usualStallMs);
    try {
      // The host's own answer: browsers keep what they compile while that streams for the next visit.
      return await attempt.watch(compileFile(url, attempt.signal, this.ask));
    } catch (error) {
      signal.throwIfAborted();
      if (isLoadError(error) && error.code !== "network") throw error;
    } finally {
      attempt.end();
    }
    return compileFile(url, signal, this.askPatiently);
  }
}

async function importFactory(url: string): Promise<EngineFactory> {
  // Bundlers are not to rewrite what this script imports.
  const module = (await import(
    /* @vite-ignore */ /* webpackIgnore: true */ /* turbopackIgnore: true */ url
  )) as { default: EngineFactory };
  return module.default;
}

async function compileFile(url: string, signal: AbortSignal, ask: typeof fetch): Promise<WebAssembly.Module> {
  const response = await fetchFile(url, signal, ask);
  const canStream = response.headers.get("content-type") === "application/wasm"; // browsers insist on it
  try {
    if (canStream) return await WebAssembly.compileStreaming(response);
    return await WebAssembly.compile(await response.arrayBuffer());
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof WebAssembly.CompileError) throw failureOf(error);
    throw new LoadError("network", `the connection broke while reading ${url}: ${String(error)}`);
  }
}
