// The engine's builds where they lie beside the worker's script.
import { UrlSource } from "../loader/model-source.js";
import { LoadError } from "../shared/errors.js";
import { failureOf } from "../shared/failures.js";
import type { BuildSource } from "./start-engine.js";

export class UrlBuilds extends UrlSource implements BuildSource {
  constructor(
    /** Of the worker's script. */
    private readonly address: string,
    fetchFile?: typeof fetch,
  ) {
    super(address, fetchFile);
  }

  importModule(name: string): Promise<unknown> {
    return import(/* @vite-ignore */ new URL(name, this.address).href);
  }

  async compile(name: string, signal: AbortSignal): Promise<WebAssembly.Module> {
    const response = await this.ask(name, signal);
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
