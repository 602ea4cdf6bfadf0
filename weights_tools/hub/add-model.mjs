// `npm run model -- ID`: fetches a GPT-2 of the hub and makes of it a folder that the page shows.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { buildPreset, root } from "../../engine/toolchain/build.mjs";
import { fetchModel } from "./fetch.mjs";
import { print } from "./print.mjs";
import { FetchError, parseId, UsageError, usualHub } from "./repository.mjs";

const usage = `npm run model -- ID [OPTIONS]

Fetches a GPT-2 of the Hugging Face hub, as openai-community/gpt2, converts it, and adds it to what the page offers:
npm start, then "Model" on the page, or http://localhost:4173/?model=models/NAME/

  ID                   user/name, or user/name@revision
  --weights FORMAT     q8, q4, f16 or f32 [q8]
  --name NAME          of the folder [the model's and the format's]
  --hub URL            another hub [HF_ENDPOINT, or ${usualHub}]
  --models FOLDER      where to put it [web/models]
  --originals FOLDER   where to keep what was fetched [build/hub]
  -h, --help           this text`;

/**
 * Runs gpt2-weights, and gives what it prints as JSON.
 * @param {string[]} args
 */
function runTool(...args) {
  const program = join(root, "build/native/weights_tools/gpt2-weights");
  const { status, stdout } = spawnSync(program, [...args, "--json"], {
    stdio: ["ignore", "pipe", 2],
    encoding: "utf8",
  });
  if (status !== 0) throw new FetchError(`gpt2-weights ${args.join(" ")} failed`);
  return JSON.parse(stdout);
}

/**
 * @typedef {object} ListedModel what the page offers (web/page/model-list.ts)
 * @property {string} folder in the folder of models
 * @property {string} name
 * @property {number} parameters
 * @property {number} bytes to download
 */

/** @param {string} path */
const readJson = (path) => JSON.parse(readFileSync(path, "utf8"));

/**
 * Puts `model` into index.json of the folder `models`, and takes out what is no longer there.
 * @param {string} models
 * @param {ListedModel} model
 */
function addToIndex(models, model) {
  const path = join(models, "index.json");
  /** @type {ListedModel[]} */
  const before = existsSync(path) ? readJson(path) : [];
  if (!Array.isArray(before)) throw new FetchError(`${path} is no list of models: remove it`);
  const others = before.filter(
    ({ folder }) => folder !== model.folder && existsSync(join(models, folder, "config.json")),
  );
  const partial = `${path}.${process.pid}.partial`;
  writeFileSync(partial, `${JSON.stringify([...others, model], null, 2)}\n`, { flag: "wx" });
  renameSync(partial, path);
}

/**
 * What is said of the model in `folder`.
 * @param {string} folder
 */
function measure(folder) {
  const { parameters } = runTool("inspect", folder);
  const { size, files } = readJson(join(folder, "weights.json"));
  const bytes = files.reduce(
    (/** @type {number} */ sum, /** @type {{size: number}} */ file) => sum + file.size,
    size,
  );
  return { parameters: parameters.total, bytes };
}

async function addModel() {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      weights: { type: "string", default: "q8" },
      name: { type: "string" },
      hub: { type: "string", default: process.env.HF_ENDPOINT ?? usualHub },
      models: { type: "string", default: join(root, "web/models") },
      originals: { type: "string", default: join(root, "build/hub") },
      help: { type: "boolean", short: "h" },
    },
  });
  if (values.help) return print(usage);
  const [wanted, ...more] = positionals;
  if (wanted === undefined || more.length > 0) throw new UsageError("expected one ID; --help says more");
  const { id, revision } = parseId(wanted);
  const name = values.name ?? `${id.replace(/^.*\//, "")}-${values.weights}`;
  const folder = join(values.models, name);
  buildPreset("native", { targets: ["gpt2-weights"], quiet: true });
  if (!existsSync(join(folder, "weights.json"))) {
    const original = join(values.originals, `${id.replace("/", "--")}@${revision.replaceAll("/", "-")}`);
    await fetchModel(wanted, original, values.hub);
    mkdirSync(values.models, { recursive: true });
    runTool("convert", original, folder, "--weights", values.weights);
  }
  addToIndex(values.models, { folder: name, name: `${id}, ${values.weights}`, ...measure(folder) });
  await print(
    `${id} is in ${folder}: npm start, then choose it on the page, or add ?model=models/${name}/ to the address`,
  );
}

try {
  await addModel();
} catch (error) {
  const { code, message } = /** @type {NodeJS.ErrnoException} */ (error);
  if (!(error instanceof FetchError) && code === undefined) throw error;
  console.error(`model: ${message}`);
  process.exitCode = error instanceof UsageError || code?.startsWith("ERR_PARSE_ARGS") ? 2 : 1;
}
