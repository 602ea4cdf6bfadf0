// Chooses the files of a repository that a model folder needs.
import { problemOfFileName, tokenizerFiles } from "../../web/src/shared/file-names.mjs";
import { FetchError, quoted, reasonOf } from "./messages.mjs";

/** @typedef {import("./repository.mjs").HubFile} HubFile */
/** @typedef {import("./repository.mjs").Repository} Repository */

const weightsFile = "model.safetensors";
/** The forms of the weights, in order of preference. A list states which shard contains which tensor. */
const weightsFiles = [
  weightsFile,
  "model.safetensors.index.json",
  "pytorch_model.bin",
  "pytorch_model.bin.index.json",
];

/**
 * Whether a file is a list of shards, for `chooseShards`.
 * @param {string} name
 */
export const isShardList = (name) => weightsFiles.includes(name) && name.endsWith(".index.json");
const optionalFiles = [
  ...tokenizerFiles,
  "tokenizer_config.json",
  "special_tokens_map.json",
  "added_tokens.json",
  "generation_config.json",
];
/** In bytes, and generous: the largest GPT-2 has 6.2 GB of weights, and each of its other files has about 1 MB. */
const mostWeights = 64e9;
const mostText = 64e6;

/** @param {string} name */
const isWeights = (name) => /\.(safetensors|bin)$/.test(name);

/**
 * The files that a model folder is made from. For weights in shards it has only the list, which `chooseShards` reads.
 * @param {Repository} repository
 * @returns {HubFile[]}
 */
export function chooseFiles({ id, files }) {
  const config = files.get("config.json");
  if (!config)
    throw new FetchError(`${id} has no config.json: it is not a model in the format of transformers`);
  const [weights] = weightsFiles.flatMap((name) => files.get(name) ?? []);
  if (!weights) throw new FetchError(`${id} has no ${weightsFile}${insteadOf(id, [...files.keys()])}`);
  if (files.has("vocab.json") !== files.has("merges.txt")) {
    const [there, missing] = files.has("vocab.json")
      ? ["vocab.json", "merges.txt"]
      : ["merges.txt", "vocab.json"];
    throw new FetchError(`${id} has ${there}, but no ${missing}: a tokenizer needs both`);
  }
  const others = optionalFiles.flatMap((name) => files.get(name) ?? []);
  return [config, ...others, weights].map((file) => ofUsualSize(id, file));
}

/**
 * @param {string} id
 * @param {HubFile} file
 * @returns {HubFile} The file. Throws a FetchError if it is too large for a GPT-2, so that it cannot fill the disk.
 */
function ofUsualSize(id, file) {
  const most = isWeights(file.name) ? mostWeights : mostText;
  if (file.size <= most) return file;
  throw new FetchError(`${id}: ${file.name} has ${file.size} bytes, expected at most ${most}`);
}

/**
 * The shards that `list`, the text of the file `listName`, names.
 * @param {Repository} repository
 * @param {string} listName
 * @param {string} list
 * @returns {HubFile[]}
 */
export function chooseShards({ id, files }, listName, list) {
  const wrong = (/** @type {string} */ why) => new FetchError(`${id}: ${listName} ${why}`);
  let map;
  try {
    map = Object(JSON.parse(list)).weight_map;
  } catch (error) {
    throw wrong(`is not valid JSON: ${reasonOf(error)}`);
  }
  const ending = listName.startsWith(weightsFile) ? ".safetensors" : ".bin";
  const names = new Set(Object.values(Object(map)));
  if (names.size === 0) throw wrong('has no "weight_map" of tensors to shards');
  const shards = [...names].map((name) => {
    const found = `names the shard ${quoted(name)}`;
    if (typeof name !== "string" || !name.endsWith(ending))
      throw wrong(`${found}, expected the name of a ${ending} file`);
    const problem = problemOfFileName(name);
    if (problem) throw wrong(`${found}: ${problem}`);
    const shard = files.get(name);
    if (!shard) throw wrong(`${found}, which is not in the repository`);
    return ofUsualSize(id, shard);
  });
  // Many file systems ignore case: there, both would be one file.
  if (new Set(shards.map(({ name }) => name.normalize().toLowerCase())).size < shards.length)
    throw wrong("names two shards that differ only in upper and lower case");
  const bytes = shards.reduce((sum, { size }) => sum + size, 0);
  if (bytes > mostWeights)
    throw wrong(`names shards of ${bytes} bytes together, expected at most ${mostWeights}`);
  return shards;
}

/**
 * The end of a message: it names the repository's other weights, and the Python that converts them; "" if it has none.
 * @param {string} id
 * @param {string[]} names
 */
function insteadOf(id, names) {
  const found = names.find((name) => /^(tf_model|flax_model)[\w.-]*\.(h5|msgpack)$/.test(name));
  if (!found) return "";
  const how = /^tf_/.test(found) ? ", from_tf=True" : /^flax_/.test(found) ? ", from_flax=True" : "";
  return (
    `, but ${found}. Convert it with Python and transformers: python3 -c 'from transformers import GPT2LMHeadModel as M; ` +
    `M.from_pretrained("${id}"${how}).save_pretrained("FOLDER", max_shard_size="100GB")'`
  );
}
