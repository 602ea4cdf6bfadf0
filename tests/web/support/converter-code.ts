// The module that converts, as the step `wasm` of `npm test` builds it.
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { hashedCode } from "../../../web/scripts/hash-code.mjs";
import { pack } from "../../../web/scripts/pack.mjs";
import { root } from "../../weights_tools/tool.js";

export const converterCode = readFileSync(resolve(root, "build/wasm/engine/gpt2-convert.wasm"));

/** Does what web/scripts/package.mjs does: gives gpt2-convert.js its module. */
export function packConverter(): void {
  Object.assign(globalThis, { GPT2_CONVERT: pack(hashedCode(converterCode)) });
}
