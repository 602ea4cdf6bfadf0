// `npm run bench:formats -- MODEL TEXT`: what each format costs in bytes and in quality. MODEL is a folder
// in floating point, TEXT one that it was not trained on. Prints a Markdown table.
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { buildPreset, root } from "../../engine/toolchain/build.mjs";

const {
  positionals: [model, text],
} = parseArgs({ allowPositionals: true });
if (!model || !text) {
  console.error("usage: npm run bench:formats -- MODEL TEXT");
  process.exit(2);
}
buildPreset("native", { targets: ["gpt2-weights"] });
const scratch = mkdtempSync(join(tmpdir(), "gpt2-formats-"));
/** @param {string[]} args */
const tool = (...args) =>
  JSON.parse(
    execFileSync(join(root, "build/native/weights_tools/gpt2-weights"), [...args, "--json"], {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    }),
  );

/** @type {[string, string[]][]} */
const formats = [
  ["f16", []],
  ["q8", []],
  ["q4", []],
  ["q4, not calibrated", ["--calibration-tokens", "0"]],
];
try {
  const original = tool("eval", model, text, "--weights", "f32");
  console.log(`${original.tokens} tokens, perplexity ${original.perplexity.toFixed(3)} in float32\n`);
  console.log(
    "| weights | bytes | bits per parameter | perplexity | KL divergence, nats | top-1 agreement |",
  );
  console.log("| --- | --- | --- | --- | --- | --- |");
  for (const [name, options] of formats) {
    const folder = join(scratch, name.replace(/\W/g, "-"));
    const { bytes, parameters } = tool(
      "convert",
      model,
      folder,
      "--weights",
      name.slice(0, 3).replace(",", ""),
      ...options,
    );
    const found = tool("eval", folder, text, "--original", model);
    const worse = 100 * (found.perplexity / original.perplexity - 1);
    console.log(
      `| ${name} | ${bytes.toLocaleString("en")} | ${((8 * bytes) / parameters).toFixed(2)} | ` +
        `${worse < 0 ? "−" : "+"}${Math.abs(worse).toFixed(3)} % | ${found.kl_divergence.toFixed(6)} | ` +
        `${(100 * found.top1_agreement).toFixed(1)} % |`,
    );
  }
} finally {
  rmSync(scratch, { recursive: true });
}
