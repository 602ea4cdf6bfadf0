// `npm run model -- SOURCE`: converts a GPT-2 with `gpt2-wasm convert`, and lists it for the page (web/page/model-list.ts).
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { buildPackage, root } from "../../engine/toolchain/build.mjs";
import { problemOfFileName } from "../src/shared/file-names.mjs";

const usage = `Usage: npm run model -- [OPTIONS] SOURCE

Convert a GPT-2, and add it to the page's list of models. To use it, run npm start, then press "Model" on the page.

  SOURCE            Id on the Hub, such as openai-community/gpt2, address, folder or .gguf file

Options:
  --weights FORMAT  Format of the weights: q8, q4, f16 or f32 [q8]
  --name NAME       Name of the model's folder [the model's name and the format]
  --hub URL         Address of the hub [HF_ENDPOINT, or https://huggingface.co/]
  --models FOLDER   Folder that holds the models' folders [web/models]
  -h, --help        Print this help message and exit`;

/** @param {string} message @param {number} status @returns {never} */
function fail(message, status = 1) {
  console.error(`model: ${message}`);
  process.exit(status);
}

/** npm runs this program in another folder than the user's. */
const cwd = process.env.INIT_CWD ?? process.cwd();

/**
 * Runs gpt2-wasm, which reports its errors itself. Returns the JSON that it prints.
 * @param {string} command @param {string[]} args
 */
function run(command, ...args) {
  const program = join(root, "build/package/gpt2-cli.js");
  if (!existsSync(program)) buildPackage({ types: false });
  const { status, stdout } = spawnSync(process.execPath, [program, command, "--json", ...args], {
    cwd,
    stdio: ["ignore", "pipe", 2],
    encoding: "utf8",
  });
  if (status !== 0) process.exit(status ?? 1);
  return JSON.parse(stdout);
}

/** The models that index.json lists. @param {string} path @returns {{folder: string, name: string}[]} */
function readIndex(path) {
  try {
    const list = existsSync(path) ? JSON.parse(readFileSync(path, "utf8")) : [];
    if (list.every(({ folder }) => typeof folder === "string")) return list;
  } catch {
    // The file is damaged.
  }
  return fail(`${path} is not a list of models with a folder each: remove the file`);
}

function readArguments() {
  try {
    return parseArgs({
      allowPositionals: true,
      options: {
        weights: { type: "string", default: "q8" },
        name: { type: "string" },
        hub: { type: "string" },
        models: { type: "string", default: join(root, "web/models") },
        help: { type: "boolean", short: "h" },
      },
    });
  } catch (error) {
    return fail(error.message, 2);
  }
}

const { values, positionals } = readArguments();
if (values.help) {
  console.log(usage);
  process.exit(0);
}
const [source, ...more] = positionals;
if (source === undefined || more.length > 0) fail("expected one SOURCE: see npm run model -- --help", 2);
const { weights, hub } = values;
const models = resolve(cwd, values.models);
const last = source
  .replace(/(@[^@]*|\.gguf|\/+)$/i, "")
  .split(/[\\/]/)
  .at(-1);
const folder = values.name ?? `${last?.replace(":", "-")}-${weights}`;
const problem = problemOfFileName(folder) ?? (folder.includes("/") ? 'it contains "/"' : undefined);
if (problem) fail(`--name ${JSON.stringify(folder)} cannot be the name of a folder: ${problem}`, 2);
const name = `${source.replace(/@main$/, "")}, ${weights}`;
const index = join(models, "index.json");
const others = readIndex(index).filter((model) => existsSync(join(models, model.folder, "config.json")));
const other = others.find((model) => model.folder === folder)?.name ?? name;
if (other !== name) fail(`${models} already has "${other}" in ${folder}: choose another --name`);

mkdirSync(models, { recursive: true });
if (!existsSync(join(models, folder))) {
  const args = ["--weights", weights, ...(hub === undefined ? [] : ["--hub", hub])];
  run("convert", ...args, "--", source, join(models, folder));
}
const { parameters, bytes } = run("list", models).find(({ path }) => path === folder) ?? {};
if (parameters === undefined) fail(`${join(models, folder)} is not a converted model: remove it`);
const listed = [...others.filter((model) => model.folder !== folder), { folder, name, parameters, bytes }];
const partial = `${index}.${process.pid}.partial`;
writeFileSync(partial, `${JSON.stringify(listed, null, 2)}\n`, { flag: "wx" });
renameSync(partial, index);
console.log(
  `${join(models, folder)} is listed. Run npm start, then choose it on the page, or add ?model=models/${encodeURIComponent(folder)}/ to the address`,
);
