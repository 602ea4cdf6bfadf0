// `gpt2-weights fetch` and `npm run model`, run as a user runs them, from malicious hubs, and into folders with traps.
import { createHash } from "node:crypto";
import {
  existsSync,
  linkSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { spawnSync } from "node:child_process";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { download } from "../../weights_tools/hub/download.mjs";
import { ScriptedHub } from "./scripted-hub.js";
import { StandInHub } from "./stand-in-hub.js";
import { scratch, start, tiedFiles } from "./tool.js";

let hub: StandInHub;
let origin: string;
let place: string;
let out: string;
let runs = 0;
beforeEach(async () => {
  hub = new StandInHub();
  hub.files = tiedFiles();
  origin = await hub.start();
  place = join(scratch, `hostile-${runs++}`);
  out = join(place, "out");
  mkdirSync(out, { recursive: true });
});
afterEach(() => hub.stop());

const fetchModel = (env: Record<string, string> = {}, ...args: string[]) =>
  start(["weights_tools/run.mjs", "fetch", "user/tied", out, "--hub", origin, ...args], env);
const addModel = (...args: string[]) =>
  start(["weights_tools/hub/add-model.mjs", "user/tied", "--hub", origin, "--models", out, ...args]).ended;
const weights = () => hub.files["model.safetensors"] ?? Buffer.alloc(0);
const partialOf = (name: string, digest: string) => join(out, `${name}.${digest.slice(0, 16)}.partial`);
const partial = () => partialOf("model.safetensors", createHash("sha256").update(weights()).digest("hex"));
// eslint-disable-next-line no-control-regex -- no message may contain these characters
const unseen = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/;

/** Makes the weights of the one file those of `shard`, which the hub has and the list names. */
function shardIs(shard: string) {
  hub.files[shard] = weights();
  delete hub.files["model.safetensors"];
  hub.files["model.safetensors.index.json"] = Buffer.from(JSON.stringify({ weight_map: { a: shard } }));
}

it.each(["../../pwned/cron", "sub/pwned.safetensors"])("a shard %s is not written", async (shard) => {
  mkdirSync(join(place, "elsewhere"));
  symlinkSync(join(place, "elsewhere"), join(out, "sub"));
  shardIs(shard);
  const { status, stderr } = await fetchModel().ended;
  expect(status).toBe(1);
  expect(stderr).toContain(`model.safetensors.index.json names the shard "${shard}"`);
  expect(readdirSync(place).sort()).toEqual(["elsewhere", "out"]);
  expect(readdirSync(join(place, "elsewhere"))).toEqual([]);
  expect(readdirSync(out).sort()).toEqual(["config.json", "model.safetensors.index.json", "sub"]);
  expect(hub.asked.filter(({ host }) => host === "store")).toEqual([]);
});

it("arguments reach the terminal only with escapes", async () => {
  out = join(place, "a\u001b[31m\u202eb\nforged");
  for (const { status, stdout, stderr } of [
    await fetchModel().ended,
    await fetchModel({}, "--json").ended,
    await fetchModel({}, "--\u001b[2J").ended,
    await start(["weights_tools/run.mjs", "fetch", "\u001b[2J"]).ended,
  ]) {
    expect(unseen.test(stdout + stderr)).toBe(false);
    expect(stdout + stderr).not.toMatch(/^forged/m);
    if (status === 0 && stdout.startsWith("{")) expect(JSON.parse(stdout)).toMatchObject({ folder: out });
  }
});

it("a token that the hub repeats is not shown", async () => {
  shardIs("hf_topsecret.safetensors");
  const { status, stdout, stderr } = await fetchModel({ HF_TOKEN: "hf_topsecret" }, "--json").ended;
  expect([status, stdout + stderr]).toEqual([0, expect.not.stringContaining("topsecret")]);
});

it("the program ends with its error while the hub is still answering", async () => {
  hub.apiFault = (_, response) => {
    response.writeHead(404, { "Content-Length": 1e6 }).write("more will come");
    return true;
  };
  const { status, stderr } = await fetchModel().ended; // the hub never ends its answer
  expect([status, stderr]).toEqual([1, expect.stringContaining("has no user/tied at main")]);
});

it.each<NodeJS.Signals>(["SIGINT", "SIGTERM"])(
  "%s ends a waiting fetch, which leaves no lock and keeps its bytes",
  async (signal) => {
    hub.fault = (name, response) => {
      if (name === "model.safetensors") response.writeHead(200).write(weights().subarray(0, 5000));
      return name === "model.safetensors"; // and then silence
    };
    const { child, ended } = fetchModel();
    await vi.waitUntil(() => existsSync(partial()) && statSync(partial()).size === 5000, { timeout: 50_000 });
    child.kill(signal);
    expect((await ended).signal).toBe(signal);
    expect(existsSync(join(out, ".fetching"))).toBe(false);
    hub.fault = () => false;
    expect((await fetchModel().ended).status).toBe(0);
    expect(hub.asked.at(-1)).toMatchObject({ range: "bytes=5000-" });
  },
);

it.each<[string, string, (at: string, mine: string) => unknown, string]>([
  ["a link at config.json", "config.json", (at, mine) => symlinkSync(mine, at), "config.json"],
  ["a link at .fetching", ".fetching", (at, mine) => symlinkSync(mine, at), "another fetch is writing to"],
  ["a link at the partial file", "", (at, mine) => symlinkSync(mine, at), ".partial"],
  [
    "a hard link at the partial file",
    "",
    (at, mine) => (writeFileSync(mine, "mine"), linkSync(mine, at)),
    "has a hard link, so writing to it would change another file: remove it",
  ],
  [
    "a pipe at config.json",
    "config.json",
    (at) => spawnSync("mkfifo", [at]),
    "config.json exists and is not a file",
  ],
])("fetch neither follows nor waits for %s", async (_, name, make, problem) => {
  const mine = join(place, "mine");
  make(name ? join(out, name) : partial(), mine);
  const before = existsSync(mine) && readFileSync(mine, "utf8");
  const { status, stderr } = await fetchModel().ended;
  expect([status, stderr]).toEqual([1, expect.stringContaining(problem)]);
  expect(existsSync(mine) && readFileSync(mine, "utf8")).toBe(before);
});

it("fetch refuses an OUT that is empty or a file", async () => {
  out = join(place, "file");
  writeFileSync(out, "mine");
  const oneLine = expect.stringMatching(/^[^\n]+file[^\n]+\n$/);
  expect(await fetchModel().ended).toMatchObject({ status: 1, stderr: oneLine });
  expect(readFileSync(out, "utf8")).toBe("mine");
  out = "";
  const isEmpty = expect.stringContaining("OUT is empty");
  expect(await fetchModel().ended).toMatchObject({ status: 2, stderr: isEmpty });
});

it("fetch gives up on a host that starts the file again and again", async () => {
  const bytes = [1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2];
  const said = vi.spyOn(console, "error").mockReturnValue();
  const answer = () => new Response("x".repeat(bytes.shift() ?? 3));
  const { access } = new ScriptedHub("https://hub.example", answer);
  const url = "https://hub.example/x";
  const file = { name: "x", url, size: 9, hash: { algorithm: "sha256" as const, digest: "0".repeat(64) } };
  await expect(download(file, join(out, "x"), access, () => {})).rejects.toThrow(
    "the connection ended after",
  );
  expect(said.mock.calls.flat()[0]).toMatch(
    /^x: the connection ended after 1 of 9 bytes; trying again in \d s$/,
  );
  said.mockRestore();
});

it.each([
  ["--name", "../pwned"],
  ["--name", "a\u001bb"],
  ["--name", ""],
  ["--weights", "../../pwned"],
  ["--models", ""],
  ["--originals", ""],
])("npm run model refuses %s %j before it writes", async (...option) => {
  const { status, stderr } = await addModel(...option);
  expect(status).toBe(2);
  expect(stderr).toMatch(new RegExp(`^model: ${option[0]} [^\\n]+\\n$`));
  expect(unseen.test(stderr)).toBe(false);
  expect(readdirSync(place)).toEqual(["out"]);
  expect(hub.asked).toEqual([]);
});

it.each(["{", '[{"folder": 7}]', "\u001b"])(
  "npm run model reports an invalid list of models: %s",
  async (text) => {
    writeFileSync(join(out, "index.json"), text);
    const { status, stderr } = await addModel();
    expect([status, stderr]).toEqual([1, expect.stringMatching(/^model: [^\n]*index\.json[^\n]+\n$/)]);
    expect(hub.asked).toEqual([]);
  },
);

it("npm run model resolves folders relative to the user's current folder", async () => {
  const folders = ["--models", "models", "--originals", "originals"];
  const add = (...more: string[]) => {
    const args = ["weights_tools/hub/add-model.mjs", "user/tied", "--hub", origin, ...folders, ...more];
    return start(args, { INIT_CWD: place }).ended;
  };
  hub.status = 404;
  expect((await add("--weights", "f32")).stderr).toContain("has no user/tied");
  hub.status = 200;
  expect((await add()).status).toBe(0);
  expect(readdirSync(place).sort()).toEqual(["models", "originals", "out"]);
});
