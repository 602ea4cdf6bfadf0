// `npm run export -- --model FOLDER -o FILE.html`: the page, the engine and a model in one HTML file.
import { createHash } from "node:crypto";
import { createReadStream, existsSync, readFileSync, renameSync, rmSync, statSync } from "node:fs";
import { open } from "node:fs/promises";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { composeOneFile, modelFiles } from "../page/parts/save-file/one-file.mjs";

const usage = `Usage: npm run export -- --model FOLDER --output FILE.html [OPTIONS]

Write one HTML file with the page, the engine and a model. It opens from disk with a double click, in every browser that
runs the page, and makes no request.

Options:
  -h, --help           Print this help message and exit
  -m, --model FOLDER   Model folder, such as web/models/demo or one that gpt2-weights convert writes
  -o, --output FILE    File to write
      --force          Replace FILE if it exists`;

const sha256 = (bytes) => createHash("sha256").update(bytes).digest("hex");

class UsageError extends Error {}

/** The arguments; undefined if the usage was requested. */
function readArguments() {
  let values;
  try {
    ({ values } = parseArgs({
      options: {
        model: { type: "string", short: "m" },
        output: { type: "string", short: "o" },
        force: { type: "boolean", default: false },
        help: { type: "boolean", short: "h", default: false },
      },
    }));
  } catch (error) {
    throw new UsageError(error.message);
  }
  const { help, model, output, force } = values;
  if (help) return undefined;
  if (model === undefined) throw new UsageError("--model is missing, expected a model folder");
  if (output === undefined) throw new UsageError("--output is missing, expected the file to write");
  return { model, output, force };
}

/** The page without a model; it is built if it does not exist. */
async function readPage() {
  const file = resolve(import.meta.dirname, "../dist/one-file.html");
  if (!existsSync(file)) {
    const { buildWeb } = await import("../../engine/toolchain/build.mjs");
    console.error("export: building the page first");
    buildWeb();
  }
  return readFileSync(file, "utf8");
}

function checkFolder(folder) {
  const isFolder = statSync(folder, { throwIfNoEntry: false })?.isDirectory();
  if (!isFolder) throw new Error(`--model ${folder}: there is no such folder`);
  if (!existsSync(join(folder, "config.json"))) {
    throw new Error(`--model ${folder} is not a model folder: it has no config.json`);
  }
}

async function write({ model, output, force }) {
  checkFolder(model);
  if (!force && existsSync(output)) throw new Error(`--output ${output} already exists: --force replaces it`);
  const page = await readPage();
  const index = join(model, "weights.json");
  const files = modelFiles(existsSync(index) ? readFileSync(index, "utf8") : undefined);
  const openFile = async (name) => {
    const file = join(model, name);
    return existsSync(file) ? createReadStream(file, { highWaterMark: 1 << 20 }) : undefined;
  };
  // Written under another name first: a full disk does not destroy an earlier file.
  const partial = `${output}.${process.pid}.partial`;
  try {
    const target = await open(partial, "wx");
    try {
      for await (const text of composeOneFile(page, files, openFile, sha256)) await target.write(text);
    } finally {
      await target.close();
    }
    renameSync(partial, output);
  } catch (error) {
    rmSync(partial, { force: true });
    throw error;
  }
  console.log(`${output}: ${(statSync(output).size / 1e6).toFixed(1)} MB`);
}

try {
  const values = readArguments();
  if (!values) console.log(usage);
  else await write(values);
} catch (error) {
  console.error(`export: ${error.message}`);
  if (error instanceof UsageError) console.error(`\n${usage}`);
  process.exitCode = error instanceof UsageError ? 2 : 1;
}
