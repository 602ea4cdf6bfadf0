// The engine's builds from memory: packed into the worker's own script, for pages in one file.
import { failureOf } from "../shared/failures.js";
import { inflate } from "../shared/inflate.js";
import type { Variant } from "../shared/types.js";
import { createModule } from "../model/wasm-module.js";
import type { BuildSource, EngineScript } from "./start-engine.js";

/** The packed code of each build, from web/scripts/pack.mjs. */
export type PackedCode = Readonly<Record<Variant, string>>;

export class PackedBuilds implements BuildSource {
  private readonly code: PackedCode;
  /** The address of a script that runs a helper thread if its worker has the thread's name. */
  private readonly threadScript: string;

  constructor(code: PackedCode, threadScript: string) {
    this.code = code;
    this.threadScript = threadScript;
  }

  async importScript(): Promise<EngineScript> {
    return { createModule, threadScript: this.threadScript };
  }

  async compile(variant: Variant): Promise<WebAssembly.Module> {
    try {
      return await WebAssembly.compile(await inflate(this.code[variant]));
    } catch (error) {
      throw failureOf(error);
    }
  }
}
