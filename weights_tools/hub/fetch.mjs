// `gpt2-weights fetch ID [OUT]`: downloads a GPT-2 from a hub into a folder that `convert` reads.
import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { parseArgs } from "node:util";
import lockfile from "proper-lockfile";
import { usualHub } from "./addresses.mjs";
import { chooseFiles, chooseShards, isShardList } from "./choose-files.mjs";
import { download } from "./download.mjs";
import { FetchError, print, runCommand, say, UsageError, visible } from "./messages.mjs";
import { openRepository, parseId } from "./repository.mjs";
import { openAccess } from "./requests.mjs";

const usage = `Usage: gpt2-weights fetch [OPTIONS] ID [OUT]

Download a GPT-2 from the Hugging Face Hub, for convert. An interrupted download resumes, and the hash of each file is
compared with the Hub's.

Positionals:
  ID                   Model id: user/name or user/name@revision, such as openai-community/gpt2
  OUT                  Folder to write [the model's name, in the current folder]

Options:
  -h, --help           Print this help message and exit
  --json               Print the result as JSON
  --hub URL            Address of the hub [HF_ENDPOINT, or ${usualHub}]

For a private model, or one with conditions, set HF_TOKEN to your token. Only the hub receives it.`;

/** @param {number} bytes */
const inWords = (bytes) => (bytes < 1e6 ? `${Math.ceil(bytes / 1e3)} kB` : `${(bytes / 1e6).toFixed(1)} MB`);

/** Shows the progress of a file on a terminal, a few times a second. */
class Progress {
  last = 0;
  begun = Date.now();
  first = -1;

  /** @param {string} name @param {number} size */
  constructor(name, size) {
    this.name = name;
    this.size = size;
  }

  /** @param {number} bytes */
  show(bytes) {
    const now = Date.now();
    if (this.first < 0) this.first = bytes;
    if (!process.stderr.isTTY || (now - this.last < 200 && bytes < this.size)) return;
    this.last = now;
    const rate = ((bytes - this.first) * 1000) / Math.max(now - this.begun, 1);
    const left = rate > 0 ? `, ${Math.ceil((this.size - bytes) / rate)} s left` : "";
    process.stderr.write(
      `\r\x1b[K${visible(this.name)}: ${inWords(bytes)} of ${inWords(this.size)}, ${inWords(rate)}/s${left}`,
    );
  }

  end() {
    if (process.stderr.isTTY) process.stderr.write("\r\x1b[K");
  }
}

/**
 * Locks `folder` for this process until the returned function is called. It is synchronous: a signal between the lock
 * and its record would leave the lock behind.
 * @param {string} folder
 */
function lock(folder) {
  const onCompromised = () => {
    say(`another fetch now writes to ${folder}: wait until it ends, then run the command again`);
    process.exit(1);
  };
  try {
    return lockfile.lockSync(folder, { lockfilePath: join(folder, ".fetching"), onCompromised });
  } catch (error) {
    throw error.code === "ELOCKED"
      ? new FetchError(`another fetch is writing to ${folder}: wait until it ends`)
      : error;
  }
}

/**
 * Downloads the model with the id `wanted` into the folder `out`, by default the one of its name in the current folder.
 * @param {string} wanted
 * @param {string | undefined} out
 * @param {string} hub
 */
export async function fetchModel(wanted, out, hub) {
  const id = parseId(wanted);
  const access = openAccess(hub, process.env.HF_TOKEN);
  if (out === "") throw new UsageError("OUT is empty, expected a folder");
  const repository = await openRepository(id, access);
  const files = chooseFiles(repository);
  const folder = out ?? repository.id.replace(/^.*\//, "");
  await mkdir(folder, { recursive: true });
  const unlock = lock(folder);
  try {
    for (const file of files) {
      const progress = new Progress(file.name, file.size);
      const how = await download(file, join(folder, file.name), access, (bytes) => progress.show(bytes));
      progress.end();
      const done = how === "there" ? "already there" : "fetched";
      say(`${file.name}: ${inWords(file.size)}, ${done}, hash verified`);
      // The loop downloads the added files, too.
      if (isShardList(file.name))
        files.push(...chooseShards(repository, file.name, await readFile(join(folder, file.name), "utf8")));
    }
  } finally {
    unlock();
  }
  return {
    id: repository.id,
    commit: repository.commit,
    folder,
    files: files.map(({ name, size, hash }) => ({ name, size, [hash.algorithm]: hash.digest })),
  };
}

/** @param {string[]} args */
async function fetchCommand(args) {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      help: { type: "boolean", short: "h" },
      json: { type: "boolean" },
      hub: { type: "string", default: process.env.HF_ENDPOINT || usualHub },
    },
  });
  if (values.help) return print(usage);
  const [id, out, ...more] = positionals;
  if (id === undefined || more.length > 0) {
    throw new UsageError(
      `expected ID and at most OUT, found ${positionals.length} arguments: see gpt2-weights fetch --help`,
    );
  }
  const result = await fetchModel(id, out, values.hub);
  await print(
    values.json ? JSON.stringify(result) : visible(`${result.id} at ${result.commit} is in ${result.folder}`),
  );
}

/**
 * Runs the command with its arguments, and ends the process.
 * @param {string[]} args
 */
export const runFetch = (args) => runCommand("gpt2-weights fetch", () => fetchCommand(args));
