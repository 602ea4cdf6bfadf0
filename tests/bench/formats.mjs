// Measures the size and the quality of each weight format.
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buildPreset, root } from "../../engine/toolchain/build.mjs";

/** @import { Flags, Rows } from "./run.mjs" */

/** @param {string[]} args */
const tool = (...args) =>
  JSON.parse(
    execFileSync(join(root, "build/native/weights_tools/gpt2-weights"), [...args, "--json"], {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    }),
  );

/** @type {Record<string, string[]>} */
const options = {
  f16: ["f16"],
  q8: ["q8"],
  q4: ["q4"],
  "q4, not calibrated": ["q4", "--calibration-tokens", "0"],
};

export const formats = {
  about:
    "bytes, perplexity and KL divergence of each weight format (--model FOLDER in floating point, --text FILE)",
  /** @param {Flags} flags */
  async measure({ model, text }) {
    if (model === undefined || text === undefined)
      throw new Error("formats needs --model FOLDER and --text FILE");
    buildPreset("native", { targets: ["gpt2-weights"] });
    const scratch = mkdtempSync(join(tmpdir(), "gpt2-formats-"));
    try {
      const original = tool("eval", model, text, "--weights", "f32");
      /** @type {Rows} */
      const rows = {};
      for (const [name, [weights = "", ...more]] of Object.entries(options)) {
        const folder = join(scratch, `${weights}${more.length}`);
        const { bytes, parameters } = tool("convert", model, folder, "--weights", weights, ...more);
        const found = tool("eval", folder, text, "--original", model);
        rows[name] = {
          bytes,
          "bits per parameter": (8 * bytes) / parameters,
          "perplexity increase, %": 100 * (found.perplexity / original.perplexity - 1),
          "KL divergence, millinats": 1000 * found.kl_divergence,
          "top-1 agreement, %": 100 * found.top1_agreement,
        };
      }
      const title = `${original.tokens} tokens, perplexity ${original.perplexity.toFixed(3)} in float32`;
      return { title, rows };
    } finally {
      rmSync(scratch, { recursive: true });
    }
  },
};
