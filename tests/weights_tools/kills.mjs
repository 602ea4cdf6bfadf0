// `npm run kills -- --kills N`: kills `gpt2-weights convert` at N random moments, with and without --force. Each time it
// checks that OUT is the old model or the new one, complete. The moments are spread over the time of a run. Half of them
// fall into its last part, in which the new folder replaces the old one.
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";

const root = resolve(import.meta.dirname, "../..");
const tool = process.env.GPT2_WEIGHTS ?? join(root, "build/native/weights_tools/gpt2-weights");

/** Runs the tool to its end, or kills it after `delay` milliseconds. */
function run(args, delay) {
  return new Promise((done, failed) => {
    const start = performance.now();
    const child = spawn(tool, args, { stdio: ["ignore", "ignore", "pipe"] });
    let stderr = "";
    child.stderr.on("data", (data) => (stderr += data));
    child.on("error", failed);
    child.on("close", (status, signal) =>
      done({ status, signal, stderr, milliseconds: performance.now() - start }),
    );
    if (delay !== undefined) setTimeout(() => child.kill("SIGKILL"), delay);
  });
}

/** One hash for all names and bytes of a folder; undefined if the folder is missing. */
function fingerprint(folder) {
  if (!existsSync(folder)) return undefined;
  const hash = createHash("sha256");
  for (const name of readdirSync(folder).sort()) hash.update(name).update(readFileSync(join(folder, name)));
  return hash.digest("hex");
}

/** Kills `kills` runs. Returns how often each model was found at OUT. Throws if OUT is neither model. */
export async function killAtRandom(kills, seed = Date.now() % 1e9) {
  const folder = mkdtempSync(join(tmpdir(), "gpt2-kills-"));
  try {
    const config = join(folder, "config.json");
    // The model has some pieces of 4 MiB.
    writeFileSync(
      config,
      JSON.stringify({ n_embd: 256, n_head: 4, n_layer: 1, n_positions: 64, vocab_size: 16000 }),
    );
    const [oldModel, newModel] = [join(folder, "old"), join(folder, "new")];
    await run(["random", config, oldModel, "--weights", "f32", "--seed", "1"]);
    await run(["convert", oldModel, newModel, "--weights", "f16"]).then(({ stderr }) => {
      if (stderr) throw new Error(stderr);
    });
    /** @type {Record<string, string>} */
    const models = {
      [`${fingerprint(oldModel)}`]: "old",
      [`${fingerprint(newModel)}`]: "new",
      undefined: "nothing",
    };
    const found = { old: 0, new: 0, nothing: 0, killed: 0, leftovers: 0 };
    let state = seed;
    const random = () => (state = (state * 48271 + 11) % 2147483647) / 2147483647;
    let usual = 0; // milliseconds
    for (let kill = 0; kill < kills; ++kill) {
      const force = kill % 2 === 0;
      const parent = join(folder, "site");
      mkdirSync(parent);
      const out = join(parent, "out");
      if (force) cpSync(oldModel, out, { recursive: true });
      const args = ["convert", oldModel, out, "--weights", "f16", ...(force ? ["--force"] : [])];
      if (kill % 20 === 0) {
        usual = (await run(args)).milliseconds; // the machine may be busier than it was
        rmSync(out, { recursive: true });
        if (force) cpSync(oldModel, out, { recursive: true });
      }
      const share = kill % 4 < 2 ? random() : 0.7 + 0.4 * random();
      const { signal, status, stderr } = await run(args, share * usual);
      const model = models[`${fingerprint(out)}`] ?? "a mixture";
      const good = signal ? ["new", force ? "old" : "nothing"] : ["new"];
      if (!good.includes(model) || (!signal && status !== 0)) {
        throw new Error(`kill ${kill} (seed ${seed}): OUT holds ${model}; ${stderr}`);
      }
      ++found[model];
      if (signal) ++found.killed;
      found.leftovers += readdirSync(parent).length - (existsSync(out) ? 1 : 0);
      rmSync(parent, { recursive: true });
    }
    return found;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const { values } = parseArgs({ options: { kills: { type: "string", default: "200" } } });
  console.log(await killAtRandom(Number(values.kills)));
}
