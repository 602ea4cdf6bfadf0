// The engine's builds as files on a static host.
import { fetchFile } from "../loader/model-source.js";
import { LoadError } from "../shared/errors.js";
import { failureOf } from "../shared/failures.js";
import { ofThisRelease } from "../shared/release.js";
import { asOwnScript, isForeign } from "../shared/script-address.js";
import type { Variant } from "../shared/types.js";
import type { BuildAddresses } from "./addresses.js";
import type { EngineFactory } from "./engine.js";
import type { BuildSource, EngineScript } from "./start-engine.js";

export class UrlBuilds implements BuildSource {
  constructor(
    private readonly addresses: Readonly<Record<Variant, BuildAddresses>>,
    /** The worker runs from a blob: what it starts has to, too. */
    private readonly isInBlob: boolean,
    private readonly fetch: typeof globalThis.fetch = (...args) => globalThis.fetch(...args),
  ) {}

  async importScript(variant: Variant, signal: AbortSignal): Promise<EngineScript> {
    const url = ofThisRelease(this.addresses[variant].script());
    let reason: unknown;
    try {
      // Bundlers are not to rewrite what this script imports.
      const module = (await import(
        /* @vite-ignore */ /* webpackIgnore: true */ /* turbopackIgnore: true */ url
      )) as { default: EngineFactory };
      const threadScript = this.isInBlob || isForeign(url) ? asOwnScript(url) : url;
      return { createModule: module.default, threadScript };
    } catch (error) {
      reason = error;
    }
    // A browser does not say why: the file's own answer does, where it is at fault.
    const response = await fetchFile(url, signal, this.fetch);
    await response.body?.cancel();
    const type = response.headers.get("content-type");
    if (!/javascript/.test(type ?? "")) {
      const found = type ? `as "${type}"` : "without a type";
      throw new LoadError("network", `the host gives ${url} ${found}: it has to say "text/javascript"`);
    }
    throw new LoadError("unsupported", `${url} is there, but cannot be run: ${failureOf(reason).message}`);
  }

  async compile(variant: Variant, signal: AbortSignal): Promise<WebAssembly.Module> {
    const response = await fetchFile(ofThisRelease(this.addresses[variant].code()), signal, this.fetch);
    // Browsers keep what they compile while it streams for the next visit, but insist on the type.
    const canStream = response.headers.get("content-type") === "application/wasm";
    try {
      if (canStream) return await WebAssembly.compileStreaming(response);
      return await WebAssembly.compile(await response.arrayBuffer());
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof WebAssembly.CompileError) throw failureOf(error);
      throw new LoadError("network", `the connection broke while reading ${response.url}: ${String(error)}`);
    }
  }
}
