// `npm run docs` serves the documentation; `npm run docs:build` writes it to build/docs, for any static host.
// `npm run docs:build -- --base /docs/ --out FOLDER` is for a host's sub-path.
import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { existsSync } from "node:fs";
import { buildPackage, buildPreset, ensureNodeModules, root } from "../engine/toolchain/build.mjs";

const usage =
  "Usage: npm run docs [-- --port N], npm run docs:build [-- --base /PATH/] [--out FOLDER] [--built]";

/** @param {string[]} args */
function readArguments(args) {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      base: { type: "string", default: "/" },
      out: { type: "string", default: "build/docs" },
      port: { type: "string", default: "4190" },
      built: { type: "boolean", default: false }, // the package and the tools are there
    },
  });
  const [command = ""] = positionals;
  if (positionals.length !== 1 || !["serve", "build"].includes(command)) throw new Error(usage);
  if (!/^\/([\w.~-]+\/)*$/.test(values.base))
    throw new Error(`--base is "${values.base}", expected a path with a slash at both ends, as /docs/`);
  return { ...values, command };
}

async function main() {
  const { command, base, out, port, built } = readArguments(process.argv.slice(2));
  ensureNodeModules();
  if (!built || !existsSync(resolve(root, "build/package"))) {
    buildPackage();
    buildPreset("native", { targets: ["gpt2-weights"] });
  }
  process.env.GPT2_DOCS_BASE = base;
  process.env.GPT2_DOCS_OUT = resolve(root, out);
  const { generateReference } = await import("./.vitepress/reference/generate.mjs");
  await generateReference();
  const { build, createServer } = await import("vitepress");
  if (command === "build") {
    const { copyEngine } = await import("./.vitepress/engine.mjs");
    await build(resolve(root, "docs"));
    copyEngine(resolve(root, out));
    return;
  }
  const server = await createServer(resolve(root, "docs"), { port: Number(port) });
  await server.listen();
  server.printUrls();
}

try {
  await main();
} catch (error) {
  console.error(error.message);
  process.exit(1);
}
