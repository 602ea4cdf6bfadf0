// `npm run bench:sizes`: every published size of GPT-2 with random weights, in headless Chromium, one at a time. Options:
// -- --size 355M and --weights q4 (either may be repeated) choose. --threads N; --json prints one JSON object; --keep
// keeps the models, 6 GB in all.
import { rmSync } from "node:fs";
import { parseArgs } from "node:util";
import { buildPreset, buildWeb } from "../../engine/toolchain/build.mjs";
import { openBrowser } from "./browser.mjs";
import { measureSize } from "./in-page.mjs";
import { gpt2Sizes, makeModel, modelsFolder } from "./models.mjs";

const { values: flags } = parseArgs({
  options: {
    size: { type: "string", multiple: true, default: Object.keys(gpt2Sizes) },
    weights: { type: "string", multiple: true, default: ["q8", "q4"] },
    threads: { type: "string", default: "2" },
    json: { type: "boolean", default: false },
    keep: { type: "boolean", default: false },
  },
});
/** @param {string} option @param {string[]} given @param {string[]} known */
const refuseUnknown = (option, given, known) => {
  const unknown = given.find((value) => !known.includes(value));
  if (unknown === undefined) return;
  console.error(`bench:sizes: --${option} is one of ${known.join(", ")}, not "${unknown}"`);
  process.exit(2);
};
refuseUnknown("size", flags.size, Object.keys(gpt2Sizes));
refuseUnknown("weights", flags.weights, ["q8", "q4", "f32"]);
const threads = Number(flags.threads);
if (!Number.isInteger(threads) || threads < 1) {
  console.error(`bench:sizes: --threads is a whole number from 1 on, not "${flags.threads}"`);
  process.exit(2);
}

buildWeb();
buildPreset("native", { targets: ["gpt2-weights"] });
const browser = await openBrowser({ "/bench": modelsFolder });
/** @type {({ size: string, weights: string } & Awaited<ReturnType<typeof measureSize>>)[]} */
const runs = [];
/** Rows come as they are measured: the larger sizes take minutes. @param {string} line */
const tell = (line) => (flags.json ? console.error(line) : console.log(line));
const rowOf = (run) => {
  const cells = [
    run.size,
    run.weights,
    (run.loadMs / 1e3).toFixed(1),
    (run.weightBytes / 1e6).toFixed(0),
    (run.memoryBytes / 1e6).toFixed(0),
    run.firstTokenMs.toFixed(0),
    run.decode.toFixed(run.decode < 10 ? 1 : 0),
  ];
  return `| ${cells.join(" | ")} |`;
};
tell(`Chromium ${browser.version}, ${threads} thread(s), random weights\n`);
tell("| size | weights | load, s | weights, MB | memory, MB | first token of 64, ms | tokens/s |");
tell("| --- | --- | --- | --- | --- | --- | --- |");
try {
  for (const size of flags.size) {
    for (const weights of flags.weights) {
      const name = `gpt2-${size}-${weights}`;
      console.error(`${size} in ${weights}: making it`);
      const folder = makeModel(weights, name, [], gpt2Sizes[size]);
      console.error(`${size} in ${weights}: measuring it`);
      try {
        runs.push({
          size,
          weights,
          ...(await browser.inPage(measureSize, { folder: `bench/${name}/`, threads })),
        });
        tell(rowOf(runs.at(-1)));
      } finally {
        if (!flags.keep) rmSync(folder, { recursive: true });
      }
    }
  }
} finally {
  await browser.close();
}

if (flags.json) console.log(JSON.stringify({ chromium: browser.version, threads, runs }, null, 1));
