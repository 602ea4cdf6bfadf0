// A model's repository on a hub: which files it has at one commit, and what each of them must hash to.
import { HubApiError, listFiles, modelInfo } from "@huggingface/hub";

export const usualHub = "https://huggingface.co";

/** Something that the user can do something about. */
export class FetchError extends Error {}

/** Wrong usage of a command: exit status 2. */
export class UsageError extends FetchError {}

/**
 * @typedef {object} HubFile
 * @property {string} name
 * @property {string} url asked anew for each attempt: what it redirects to expires
 * @property {number} size in bytes
 * @property {{algorithm: "sha256" | "git-sha1", digest: string}} hash lower-case hexadecimal; Git's covers a header, too
 */

/**
 * @typedef {object} Repository
 * @property {string} id
 * @property {string} commit
 * @property {Map<string, HubFile>} files by name; those at the top
 */

/**
 * `user/name` or `user/name@revision`.
 * @param {string} text
 */
export function parseId(text) {
  const match = /^(?<id>[\w.-]+(?:\/[\w.-]+)?)(?:@(?<revision>[^@\s]+))?$/.exec(text);
  if (!match?.groups?.id) {
    throw new UsageError(
      `"${text}" is no id of a model: expected user/name or user/name@revision, as openai-community/gpt2`,
    );
  }
  return { id: match.groups.id, revision: match.groups.revision ?? "main" };
}

/**
 * What a hub's refusal means.
 * @param {number} status
 * @param {string} what
 * @param {string} hub
 */
export function refusal(status, what, hub) {
  switch (status) {
    case 401:
      return `${hub} does not give ${what}: there is none of that name, or it is private: set HF_TOKEN to a token that may read it`;
    case 403:
      return `${hub} does not give ${what} to everybody: accept its conditions there, and set HF_TOKEN to your token`;
    case 404:
      return `${hub} has no ${what}`;
    case 429:
      return `${hub} has had too many requests from here: try again later, or set HF_TOKEN`;
    default:
      return `${hub} answered ${status} for ${what}`;
  }
}

/**
 * @param {{id: string, revision: string}} wanted
 * @param {{hub: string, token: string | undefined}} access
 * @returns {Promise<Repository>}
 */
export async function openRepository({ id, revision }, { hub, token }) {
  const access = { hubUrl: hub, ...(token && { accessToken: token }) };
  try {
    // A branch may move while its files are fetched; a commit does not.
    const { sha: commit } = await modelInfo({ name: id, revision, additionalFields: ["sha"], ...access });
    /** @type {Repository["files"]} */
    const files = new Map();
    for await (const { type, path, size, oid, lfs } of listFiles({ repo: id, revision: commit, ...access })) {
      if (type !== "file" || (!lfs && !oid)) continue;
      files.set(path, {
        name: path,
        url: `${hub}/${id}/resolve/${commit}/${encodeURIComponent(path)}`,
        size: lfs?.size ?? size,
        hash: lfs ? { algorithm: "sha256", digest: lfs.oid } : { algorithm: "git-sha1", digest: String(oid) },
      });
    }
    return { id, commit, files };
  } catch (error) {
    if (error instanceof HubApiError) {
      throw new FetchError(refusal(error.statusCode, `${id} at ${revision}`, hub), { cause: error });
    }
    throw error instanceof TypeError
      ? new FetchError(`${hub} cannot be reached: ${reasonOf(error)}`, { cause: error })
      : error;
  }
}

/**
 * Node.js says "fetch failed", and why in the cause.
 * @param {unknown} error
 * @returns {string}
 */
export function reasonOf(error) {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? error.cause.message : error.message;
}

const weightsFile = "model.safetensors";
/** In place of it: which shard each tensor is in. */
export const shardsFile = "model.safetensors.index.json";
const optionalFiles = ["vocab.json", "merges.txt", "generation_config.json"];

/**
 * The files that a model folder is made from; of weights in shards the list alone, which `chooseShards` reads.
 * @param {Repository} repository
 * @returns {HubFile[]}
 */
export function chooseFiles({ id, files }) {
  const config = files.get("config.json");
  if (!config) throw new FetchError(`${id} has no config.json: it is no model of the library transformers`);
  const weights = files.get(weightsFile) ?? files.get(shardsFile);
  if (!weights) throw new FetchError(`${id} has no ${weightsFile}${insteadOf(id, [...files.keys()])}`);
  if (files.has("vocab.json") !== files.has("merges.txt")) {
    const [there, missing] = files.has("vocab.json")
      ? ["vocab.json", "merges.txt"]
      : ["merges.txt", "vocab.json"];
    throw new FetchError(`${id} has ${there}, but no ${missing}: a tokenizer needs both`);
  }
  const others = optionalFiles.flatMap((name) => files.get(name) ?? []);
  return [config, ...others, weights];
}

/**
 * The shards that `list`, the text of model.safetensors.index.json, names.
 * @param {Repository} repository
 * @param {string} list
 * @returns {HubFile[]}
 */
export function chooseShards({ id, files }, list) {
  const wrong = (/** @type {string} */ why) => new FetchError(`${id}: ${shardsFile} ${why}`);
  let map;
  try {
    map = Object(JSON.parse(list)).weight_map;
  } catch (error) {
    throw wrong(`is not valid JSON: ${/** @type {Error} */ (error).message}`);
  }
  const names = [...new Set(Object.values(Object(map)))];
  if (names.length === 0) throw wrong('has no "weight_map" of tensors to shards');
  return names.map((name) => {
    const shard = typeof name === "string" ? files.get(name) : undefined;
    if (shard) return shard;
    const found = Object(name) === name ? "an object" : JSON.stringify(name).slice(0, 100);
    throw wrong(`names the shard ${found}, which is not in the repository`);
  });
}

/**
 * What there is in place of the one file of weights, and the line that makes it.
 * @param {string} id
 * @param {string[]} names
 */
function insteadOf(id, names) {
  const found = names.find((name) => /^(pytorch_model|tf_model|flax_model).*\.(bin|h5|msgpack)$/.test(name));
  if (!found) return "";
  const how = /^tf_/.test(found) ? ", from_tf=True" : /^flax_/.test(found) ? ", from_flax=True" : "";
  return (
    `, but ${found}. Python with transformers makes it: python3 -c 'from transformers import GPT2LMHeadModel as M; ` +
    `M.from_pretrained("${id}"${how}).save_pretrained("FOLDER", max_shard_size="100GB")'`
  );
}
