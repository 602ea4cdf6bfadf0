// `gpt2-weights fetch ID [OUT]`: a GPT-2 of a hub onto a disk, as `convert` takes it.
import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { parseArgs } from "node:util";
import lockfile from "proper-lockfile";
import { download } from "./download.mjs";
import { print } from "./print.mjs";
import {
  chooseFiles,
  chooseShards,
  FetchError,
  openRepository,
  parseId,
  shardsFile,
  UsageError,
  usualHub,
} from "./repository.mjs";

const usage = `Usage: gpt2-weights fetch [OPTIONS] ID [OUT]

Fetches a GPT-2 of the Hugging Face hub into the folder OUT, for convert: openai-community/gpt2, user/fine-tune@revision.
A fetch that was cut goes on where it was; each file's hash is compared with the hub's.

Positionals:
  ID                   user/name, or user/name@revision
  OUT                  Folder to write [the name, in this folder]

Options:
  -h, --help           Print this help message and exit
  --json               Print the result as JSON
  --hub URL            Another hub [HF_ENDPOINT, or ${usualHub}]

The token in HF_TOKEN, if there is one, is sent to the hub: private models, and those with conditions, need it.`;

/** Silence of a host that counts as a broken connection. */
const stallMs = 30_000;

/** @param {number} bytes */
const inWords = (bytes) => (bytes < 1e6 ? `${Math.ceil(bytes / 1e3)} kB` : `${(bytes / 1e6).toFixed(1)} MB`);

/** Tells on a terminal how far a file has come, a few times a second. */
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
      `\r\x1b[K${this.name}: ${inWords(bytes)} of ${inWords(this.size)}, ${inWords(rate)}/s${left}`,
    );
  }

  end() {
    if (process.stderr.isTTY) process.stderr.write("\r\x1b[K");
  }
}

/**
 * Fetches the model `wanted`, an id, into the folder `out`; by default the one of its name, here.
 * @param {string} wanted
 * @param {string | undefined} out
 * @param {string} hub
 */
export async function fetchModel(wanted, out, hub) {
  const access = { hub: hub.replace(/\/+$/, ""), token: process.env.HF_TOKEN || undefined, stallMs };
  const repository = await openRepository(parseId(wanted), access);
  const files = chooseFiles(repository);
  const folder = out ?? repository.id.replace(/^.*\//, "");
  await mkdir(folder, { recursive: true });
  const unlock = await lockfile.lock(folder, { lockfilePath: join(folder, ".fetching") }).catch((error) => {
    throw error.code === "ELOCKED" ? new FetchError(`another fetch is writing to ${folder}`) : error;
  });
  try {
    for (const file of files) {
      const progress = new Progress(file.name, file.size);
      const how = await download(file, join(folder, file.name), access, (bytes) => progress.show(bytes));
      progress.end();
      const done = how === "there" ? "is there" : "fetched";
      console.error(`${file.name}: ${inWords(file.size)}, ${done}, hash as the hub's`);
      // The loop goes on with them.
      if (file.name === shardsFile)
        files.push(...chooseShards(repository, await readFile(join(folder, shardsFile), "utf8")));
    }
  } finally {
    await unlock();
  }
  return {
    id: repository.id,
    commit: repository.commit,
    folder,
    files: files.map(({ name, size, hash }) => ({ name, size, [hash.algorithm]: hash.digest })),
  };
}

/**
 * Runs the command with its arguments. Returns the exit status.
 * @param {string[]} args
 */
export async function runFetch(args) {
  try {
    const { values, positionals } = parseArgs({
      args,
      allowPositionals: true,
      options: {
        help: { type: "boolean", short: "h" },
        json: { type: "boolean" },
        hub: { type: "string", default: process.env.HF_ENDPOINT ?? usualHub },
      },
    });
    if (values.help) {
      await print(usage);
      return 0;
    }
    const [id, out, ...more] = positionals;
    if (id === undefined || more.length > 0) {
      throw new UsageError("expected ID, and perhaps OUT; gpt2-weights fetch --help says more");
    }
    if (!URL.canParse(values.hub)) throw new UsageError(`--hub ${values.hub} is no URL`);
    const result = await fetchModel(id, out, values.hub);
    await print(
      values.json ? JSON.stringify(result) : `${result.id} at ${result.commit} is in ${result.folder}`,
    );
    return 0;
  } catch (error) {
    const { code, message } = /** @type {NodeJS.ErrnoException} */ (error);
    if (!(error instanceof FetchError) && code === undefined) throw error;
    console.error(`gpt2-weights fetch: ${message}`);
    return error instanceof UsageError || code?.startsWith("ERR_PARSE_ARGS") ? 2 : 1;
  }
}
