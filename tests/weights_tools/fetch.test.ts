// `gpt2-weights fetch`, run as a user runs it, from a stand-in for the hub.
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createHash } from "node:crypto";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { json, scratch, start, tiedFiles } from "./tool.js";
import { commit, StandInHub } from "./stand-in-hub.js";

let hub: StandInHub;
let origin: string;
let out: string;
let runs = 0;
beforeEach(async () => {
  hub = new StandInHub();
  hub.files = tiedFiles();
  hub.files["generation_config.json"] = Buffer.from('{"temperature": 0.7}');
  hub.files["README.md"] = Buffer.from("nobody needs it");
  origin = await hub.start();
  out = join(scratch, `fetched-${runs++}`);
});
afterEach(() => hub.stop());

const run = (...all: Parameters<typeof start>) => start(...all).ended;

const fetchModel = (
  id = "user/tied",
  { args = [], env = {} }: { args?: string[]; env?: Record<string, string> } = {},
) => run(["weights_tools/run.mjs", "fetch", id, out, "--hub", origin, ...args], env);

const weights = () => hub.files["model.safetensors"] ?? Buffer.alloc(0);
/** Vitest takes seconds to compare so many bytes, and longer on a busy machine. */
const hasWeights = (path: string) => readFileSync(path).equals(weights());
/** The partial files of the weights. */
function partial(): string {
  const sha256 = createHash("sha256").update(weights()).digest("hex");
  return join(out, `model.safetensors.${sha256.slice(0, 16)}.partial`);
}
const storeRequests = () => hub.asked.filter(({ host }) => host === "store");

it("fetch downloads what convert needs, at one commit, and checks the hub's hashes", async () => {
  const env = { HF_TOKEN: "hf_secret" };
  const { status, stdout, stderr } = await fetchModel("user/tied", { args: ["--json"], env });
  expect([status, stderr]).toEqual([0, expect.stringContaining("model.safetensors: ")]);
  const names = ["config.json", "generation_config.json", "model.safetensors"];
  const result = JSON.parse(stdout) as { commit: string; files: { name: string; sha256?: string }[] };
  expect(result.commit).toBe(commit);
  expect(result.files.map(({ name }) => name)).toEqual(names);
  expect(result.files.at(-1)?.sha256).toMatch(/^[0-9a-f]{64}$/);
  expect(readdirSync(out).sort()).toEqual(names);
  expect(hasWeights(join(out, "model.safetensors"))).toBe(true);
  for (const { path } of hub.asked.filter((each) => each.path.includes("/resolve/"))) {
    expect(path).toContain(`/user/tied/resolve/${commit}/`);
  }
  expect(json(["convert", out, `${out}-q8`, "--json"])).toMatchObject({ parameters: 113408 });
  // Only the hub gets the token.
  for (const { host, token } of hub.asked)
    expect(token).toBe(host === "hub" ? "Bearer hf_secret" : undefined);
});

it("fetch requests no file that already exists", async () => {
  await fetchModel();
  hub.asked.length = 0;
  const { status, stderr } = await fetchModel();
  expect(status).toBe(0);
  expect(stderr).toContain("model.safetensors: 457 kB, already there, hash verified");
  expect(hub.asked.filter(({ path }) => path.includes("/resolve/"))).toEqual([]);
});

it("a broken connection resumes where it stopped, at a new signed address", async () => {
  const cuts = [1000, 5000];
  hub.fault = (name, response) => {
    const cut = name === "model.safetensors" ? cuts.shift() : undefined;
    if (cut === undefined) return false;
    const { range } = response.req.headers;
    const from = Number(/\d+/.exec(range ?? "0"));
    response.writeHead(range ? 206 : 200, { "Content-Length": weights().length - from });
    response.write(weights().subarray(from, from + cut));
    const hasArrived = () => existsSync(partial()) && statSync(partial()).size === from + cut;
    void vi.waitUntil(hasArrived, { timeout: 50_000 }).then(() => response.destroy());
    return true;
  };
  expect((await fetchModel()).status).toBe(0);
  expect(hasWeights(join(out, "model.safetensors"))).toBe(true);
  expect(storeRequests().map(({ range }) => range)).toEqual([undefined, "bytes=1000-", "bytes=6000-"]);
});

it("fetch leaves files of other programs alone, even with names like its own", async () => {
  mkdirSync(out);
  writeFileSync(join(out, "model.safetensors.partial"), "mine");
  hub.fault = (name) => {
    if (name === "model.safetensors") writeFileSync(join(out, name), "mine, too");
    return false;
  };
  const { status, stderr } = await fetchModel();
  expect([status, stderr]).toEqual([1, expect.stringContaining("another program has written")]);
  expect(readFileSync(join(out, "model.safetensors"), "utf8")).toBe("mine, too");
  expect(readFileSync(join(out, "model.safetensors.partial"), "utf8")).toBe("mine");
  expect(hasWeights(partial())).toBe(true);
});

it("fetch starts again if the partial file is damaged, and reports wrong bytes of the hub", async () => {
  mkdirSync(out);
  writeFileSync(partial(), Buffer.alloc(3000, 7));
  expect((await fetchModel()).status).toBe(0);
  expect(storeRequests().map(({ range }) => range)).toEqual(["bytes=3000-", undefined]);
  out += "-wrong";
  hub.fault = (name, response) => {
    if (name === "model.safetensors") response.end(Buffer.from(weights()).fill(0, 999, 1003));
    return name === "model.safetensors";
  };
  const { status, stderr } = await fetchModel();
  expect(status).toBe(1);
  expect(stderr).toMatch(/safetensors has the hash [0-9a-f]{64}, but the hub states [0-9a-f]{64} \(sha256\)/);
  expect(existsSync(join(out, "model.safetensors"))).toBe(false);
  hub.fault = (name, response) => {
    if (name === "config.json") response.end(Buffer.from(hub.files[name] ?? "").fill("x", 0, 1));
    return name === "config.json";
  };
  out += "-small";
  expect((await fetchModel()).stderr).toMatch(/config\.json has the hash [0-9a-f]{40}, .*\(git-sha1\)/);
});

it("fetch does not replace a different file", async () => {
  mkdirSync(out);
  writeFileSync(join(out, "config.json"), "mine");
  const { status, stderr } = await fetchModel();
  expect(status).toBe(1);
  expect(stderr).toContain("config.json already exists and differs from the hub's config.json");
  expect(readFileSync(join(out, "config.json"), "utf8")).toBe("mine");
});

it("only one fetch writes to a folder", async () => {
  let release: () => void = () => {};
  const reached = new Promise<void>((resolve) => {
    hub.fault = (name, response) => {
      if (name !== "config.json") return false;
      release = () => response.end(hub.files[name]);
      resolve();
      return true;
    };
  });
  const first = fetchModel();
  await reached;
  const second = await fetchModel();
  expect([second.status, second.stderr]).toEqual([
    1,
    `gpt2-weights fetch: another fetch is writing to ${out}: wait until it ends\n`,
  ]);
  release();
  expect((await first).status).toBe(0);
});

it("fetch asks a busy hub again", async () => {
  const faults = [503];
  hub.fault = (_, response) => {
    const status = faults.pop();
    if (status) response.writeHead(status, { "Retry-After": "0" }).end();
    return status !== undefined;
  };
  expect((await fetchModel()).status).toBe(0);
});

it.each([
  ["tf_model.h5", 'M.from_pretrained("user/tied", from_tf=True)'],
  ["flax_model.msgpack", 'M.from_pretrained("user/tied", from_flax=True)'],
])("fetch names %s, and the line that converts it", async (name, line) => {
  Reflect.deleteProperty(hub.files, "model.safetensors");
  hub.files[name] = Buffer.from("x");
  const { stderr } = await fetchModel();
  expect(stderr).toContain(`has no model.safetensors, but ${name}.`);
  expect(stderr).toContain(line);
});

it("fetch refuses half a tokenizer", async () => {
  hub.files["vocab.json"] = Buffer.from("{}");
  expect((await fetchModel()).stderr).toContain("user/tied has vocab.json, but no merges.txt");
});

it("fetch reports an unreachable hub, and a wrong option", async () => {
  const fetchWith = (...args: string[]) => fetchModel("user/tied", { args });
  const stderr = expect.stringContaining("http://localhost:1 cannot be reached: ");
  expect(await fetchWith("--hub", "http://localhost:1")).toMatchObject({ status: 1, stderr });
  expect((await fetchWith("--what")).status).toBe(2);
  const stdout = expect.stringContaining("Usage: gpt2-weights fetch [OPTIONS] ID [OUT]");
  expect(await fetchWith("--help")).toMatchObject({ status: 0, stdout });
});

const others = ["config.json", "generation_config.json"];
const shards = ["model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors"];

it("fetch downloads the shards that a list names, each once", async () => {
  delete hub.files["model.safetensors"];
  for (const name of shards) hub.files[name] = Buffer.from(`the bytes of ${name}`);
  const weight_map = { a: shards[0], b: shards[1], c: shards[0] };
  hub.files["model.safetensors.index.json"] = Buffer.from(JSON.stringify({ weight_map }));
  hub.files["model-00003-of-00002.safetensors"] = Buffer.from("no tensor is in it");
  expect((await fetchModel()).status).toBe(0);
  expect(readdirSync(out).sort()).toEqual([...others, "model.safetensors.index.json", ...shards].sort());
  for (const name of shards) expect(readFileSync(join(out, name))).toEqual(hub.files[name]);
});

it("fetch downloads pytorch_model.bin if there is no model.safetensors, in one file or several", async () => {
  delete hub.files["model.safetensors"];
  const parts = ["pytorch_model-00001-of-00002.bin", "pytorch_model-00002-of-00002.bin"];
  for (const name of ["pytorch_model.bin", ...parts]) hub.files[name] = Buffer.from(`the bytes of ${name}`);
  const list = "pytorch_model.bin.index.json";
  hub.files[list] = Buffer.from(JSON.stringify({ weight_map: { a: parts[0], b: parts[1] } }));
  expect((await fetchModel()).status).toBe(0);
  expect(readdirSync(out).sort()).toEqual([...others, "pytorch_model.bin"].sort());
  rmSync(out, { recursive: true });
  delete hub.files["pytorch_model.bin"];
  expect((await fetchModel()).status).toBe(0);
  expect(readdirSync(out).sort()).toEqual([...others, list, ...parts].sort());
  rmSync(out, { recursive: true });
  hub.files[list] = Buffer.from(JSON.stringify({ weight_map: { a: "a.safetensors" } }));
  expect((await fetchModel()).stderr).toContain(
    `user/tied: ${list} names the shard "a.safetensors", expected the name of a .bin file`,
  );
});

it.each([
  ["gpt2-weights fetch", "run.mjs", "fetch", "user/tied", "--json"],
  ["gpt2-weights fetch", "run.mjs", "fetch", "--help"],
  ["model", "hub/add-model.mjs", "--help"],
])("%s reports that standard output cannot be written: %s %s", async (program, script, ...args) => {
  const command = [process.execPath, `weights_tools/${script}`, ...args];
  const env = { HF_ENDPOINT: origin, INIT_CWD: scratch };
  const { status, stderr } = await run(["-c", '"$@" > /dev/full', "bash", ...command], env, "bash");
  expect(status).toBe(1);
  expect(stderr).toMatch(new RegExp(`^${program}: cannot write standard output: .+\\n$`, "m"));
});

it("npm run model makes a model for the page in one command", async () => {
  const args = [
    ...["user/tied@v1", "--weights", "f32", "--hub", origin],
    ...["--models", out, "--originals", `${out}-hub`],
  ];
  const { status, stdout, stderr } = await run(["weights_tools/hub/add-model.mjs", ...args]);
  expect([status, stderr]).toEqual([0, expect.stringContaining("model.safetensors: ")]);
  expect(stdout).toContain("?model=models/tied-f32/");
  expect(readdirSync(out).sort()).toEqual(["index.json", "tied-f32"]);
  const list = () => JSON.parse(readFileSync(join(out, "index.json"), "utf8")) as { folder: string }[];
  const folder = join(out, "tied-f32");
  const bytes = readdirSync(folder)
    .filter((name) => !["weights.json", ".gitattributes"].includes(name))
    .reduce((sum, name) => sum + statSync(join(folder, name)).size, 0);
  const listed = { folder: "tied-f32", name: "user/tied@v1, f32", parameters: 113_408, bytes };
  expect(list()).toEqual([listed]);
  const defaults = readFileSync(join(out, "tied-f32/generation_config.json"), "utf8");
  expect(JSON.parse(defaults)).toEqual({ temperature: 0.7 });
  const gone = { ...listed, folder: "removed" };
  writeFileSync(join(out, "index.json"), JSON.stringify([gone, listed]));
  const again = await run(["weights_tools/hub/add-model.mjs", ...args]);
  expect([again.status, again.stdout]).toEqual([0, stdout]);
  expect(list()).toEqual([listed]); // once, and without the removed model
  const other = await run(["weights_tools/hub/add-model.mjs", "user/tied", ...args.slice(1)]);
  expect(other.stderr).toContain('already has "user/tied@v1, f32" in tied-f32: choose another --name');
});
