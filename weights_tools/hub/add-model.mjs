// `npm run model -- ID`: downloads a GPT-2 from the Hub, and converts it into a folder that the page offers.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { buildPreset, root } from "../../engine/toolchain/build.mjs";
import { problemOfFileName } from "../../web/src/shared/file-names.mjs";
import { usualHub } from "./addresses.mjs";
import { fetchModel } from "./fetch.mjs";
import { FetchError, print, quoted, reasonOf, runCommand, UsageError, visible } from "./messages.mjs";
import { parseId } from "./repository.mjs";

const usage = `Usage: npm run model -- [OPTIONS] ID

Download a GPT-2 from the Hugging Face Hub, convert it, and add it to the page's list of models. To use it, run npm start,
then press "Model" on the page, or open http://localhost:4173/?model=models/NAME/.

Positionals:
  ID                   Model id: user/name or user/name@revision, such as openai-community/gpt2

Options:
  -h, --help           Print this help message and exit
  --weights FORMAT     Format of the converted weights: q8, q4, f16 or f32 [q8]
  --name NAME          Name of the model's folder [the model's name and the format]
  --hub URL            Address of the hub [HF_ENDPOINT, or ${usualHub}]
  --models FOLDER      Folder that holds the models' folders [web/models]
  --originals FOLDER   Folder that keeps the downloaded files [build/hub]`;

const formats = ["q8", "q4", "f16", "f32"];

/**
 * Runs gpt2-weights. Returns the JSON that it prints. Throws a FetchError if it fails.
 * @param {string[]} args
 */
function runTool(...args) {
  const program = join(root, "build/native/weights_tools/gpt2-weights");
  const { status, signal, stdout } = spawnSync(program, [...args, "--json"], {
    stdio: ["ignore", "pipe", 2],
    encoding: "utf8",
  });
  if (signal) throw new FetchError(`the signal ${signal} ended gpt2-weights ${args[0]}`);
  if (status !== 0) throw new FetchError(`gpt2-weights ${args.join(" ")} failed, for the reason above`);
  return JSON.parse(stdout);
}

/**
 * @typedef {object} ListedModel What the page offers (web/page/model-list.ts)
 * @property {string} folder in the folder of models
 * @property {string} name
 * @property {number} parameters
 * @property {number} bytes to download
 */

/**
 * @param {string} path
 * @returns {unknown} Throws a FetchError if the file cannot be read or is not JSON.
 */
function readJson(path) {
  try {
    return JSON.parse(readFileSync(path, "utf8"));
  } catch (error) {
    throw new FetchError(`cannot read ${path}: ${reasonOf(error)}`, { cause: error });
  }
}

/**
 * The models that index.json lists.
 * @param {string} path
 * @returns {ListedModel[]}
 */
function readIndex(path) {
  const list = existsSync(path) ? readJson(path) : [];
  if (Array.isArray(list) && list.every((model) => typeof Object(model).folder === "string")) return list;
  throw new FetchError(`${path} is not a list of models with a folder each: remove the file`);
}

/**
 * Adds `model` to index.json in the folder `models`, and removes models whose folders are gone.
 * @param {string} models
 * @param {ListedModel} model
 */
function addToIndex(models, model) {
  const path = join(models, "index.json");
  const others = readIndex(path).filter(
    ({ folder }) => folder !== model.folder && existsSync(join(models, folder, "config.json")),
  );
  const partial = `${path}.${process.pid}.partial`;
  writeFileSync(partial, `${JSON.stringify([...others, model], null, 2)}\n`, { flag: "wx" });
  renameSync(partial, path);
}

/**
 * The numbers that the page shows of the model in `folder`. gpt2-weights has checked its weights.json.
 * @param {string} folder
 */
function measure(folder) {
  const { parameters } = runTool("inspect", folder);
  const { size, files } = /** @type {{size: number, files?: {size: number}[]}} */ (
    readJson(join(folder, "weights.json"))
  );
  const bytes = (files ?? []).reduce((sum, file) => sum + file.size, size);
  return { parameters: parameters.total, bytes };
}

/** Builds gpt2-weights. Throws a FetchError. */
function buildTool() {
  try {
    buildPreset("native", { targets: ["gpt2-weights"], quiet: true });
  } catch (error) {
    throw new FetchError(reasonOf(error), { cause: error });
  }
}

/**
 * The absolute path of a folder. A relative one starts where the user is, because npm runs this program elsewhere.
 * @param {string} option
 * @param {string} folder
 */
function chosenFolder(option, folder) {
  if (folder === "") throw new UsageError(`${option} is empty, expected a folder`);
  return resolve(process.env.INIT_CWD ?? ".", folder);
}

/**
 * The name of the model's folder. Throws a UsageError for an invalid name.
 * @param {string} name
 */
function folderName(name) {
  const problem = problemOfFileName(name) ?? (name.includes("/") ? 'it contains "/"' : undefined);
  if (problem) throw new UsageError(`--name ${quoted(name)} cannot be the name of a folder: ${problem}`);
  return name;
}

async function addModel() {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      weights: { type: "string", default: "q8" },
      name: { type: "string" },
      hub: { type: "string", default: process.env.HF_ENDPOINT || usualHub },
      models: { type: "string", default: join(root, "web/models") },
      originals: { type: "string", default: join(root, "build/hub") },
      help: { type: "boolean", short: "h" },
    },
  });
  if (values.help) return print(usage);
  const [wanted, ...more] = positionals;
  if (wanted === undefined || more.length > 0)
    throw new UsageError(`expected one ID, found ${positionals.length}: see npm run model -- --help`);
  const { id, revision } = parseId(wanted);
  const format = values.weights;
  if (!formats.includes(format))
    throw new UsageError(`--weights is ${quoted(format)}, expected one of ${formats.join(", ")}`);
  const models = chosenFolder("--models", values.models);
  const originals = chosenFolder("--originals", values.originals);
  const model = {
    folder: folderName(values.name ?? `${id.replace(/^.*\//, "")}-${format}`),
    name: `${revision === "main" ? id : wanted}, ${format}`,
  };
  const other = readIndex(join(models, "index.json")).find(({ folder }) => folder === model.folder)?.name;
  if (other !== undefined && other !== model.name)
    throw new FetchError(`${models} already has ${quoted(other)} in ${model.folder}: choose another --name`);
  const folder = join(models, model.folder);
  buildTool();
  if (!existsSync(join(folder, "weights.json"))) {
    const original = join(originals, `${id.replace("/", "--")}@${revision.replaceAll("/", "-")}`);
    await fetchModel(wanted, original, values.hub);
    mkdirSync(models, { recursive: true });
    runTool("convert", original, folder, "--weights", format);
  }
  addToIndex(models, { ...model, ...measure(folder) });
  const address = `?model=models/${encodeURIComponent(model.folder)}/`;
  await print(
    visible(
      `${id} is in ${folder}. Run npm start, then choose it on the page, or add ${address} to the page's address`,
    ),
  );
}

await runCommand("model", addModel);
