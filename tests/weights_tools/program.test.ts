// `npx gpt2-wasm`, run in this process. The folders that it writes are compared with those of `gpt2-weights`.
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { main } from "../../web/src/cli/main.js";
import { StandInHub } from "./stand-in-hub.js";
import { contents, filesFrom, folderOf, json, root, scratch, shardsOf, tiedFiles, tiny } from "./tool.js";
import { filesOf, makeAdapter } from "../web/support/adapter.js";
import { packConverter } from "../web/support/converter-code.js";
import { ggufMetadata, ggufTensors, writeGguf } from "../web/support/gguf.js";
import { readSafetensors } from "../web/support/safetensors.js";

packConverter();
let hub: StandInHub;
let origin: string;
let out: string;
let runs = 0;
beforeEach(async () => {
  hub = new StandInHub();
  hub.files = tiedFiles();
  origin = await hub.start();
  out = join(scratch, `program-${runs++}`, "model");
  vi.stubGlobal("fetch", fetch); // the program replaces it
});
afterEach(() => {
  hub.stop();
  vi.unstubAllEnvs();
});

/** Runs the program to its end. */
async function run(args: string[], signal = new AbortController().signal) {
  let [stdout, stderr] = ["", ""];
  const done = (args: unknown[]) =>
    (args.find((arg) => typeof arg === "function") as (() => void) | undefined)?.();
  vi.spyOn(process.stdout, "write").mockImplementation((text, ...rest) => {
    stdout += String(text);
    done(rest);
    return true;
  });
  vi.spyOn(process.stderr, "write").mockImplementation((text) => Boolean((stderr += String(text))));
  const status = await main(args, signal);
  vi.restoreAllMocks();
  return { status, stdout, stderr };
}
const convert = (source: string, ...args: string[]) => run(["convert", source, out, ...args]);
/** Every file that gpt2-weights writes for the same model, by its hash. */
function native(model: string, ...args: string[]): Record<string, string> {
  const made = join(scratch, "native");
  json(["convert", model, made, "--calibration-tokens", "0", "--force", "--json", ...args]);
  return contents(made);
}

const tied = join(tiny, "tied");
const tensors = readSafetensors(readFileSync(join(tied, "model.safetensors")));
const config = JSON.parse(readFileSync(join(tied, "config.json"), "utf8")) as Record<string, unknown>;
const vocab = Object.fromEntries([...Array(Number(config.vocab_size)).keys()].map((id) => [`t${id}`, id]));
const shards = folderOf({ ...filesFrom(tied, "config.json"), ...shardsOf(tensors) });
/** Numbers, keys and characters that JSON.stringify would write otherwise. */
const odd =
  '{"10": 1e-05, "2": [1.0, 1e22, -0.0, 12345678901234567890, 0.0001], "é\\u2028\\/\\u007f\\t": [{}, []]}';
const texts = folderOf({
  ...tiedFiles(),
  "config.json": JSON.stringify(config).replace(/\}\s*$/, `, "task_specific_params": ${odd} }\r\n`),
  "vocab.json": JSON.stringify(vocab),
  "merges.txt": "#version: 0.2\r\n",
  "tokenizer_config.json": '{"add_bos_token": false}',
  "special_tokens_map.json": "{}",
  "generation_config.json": '{ "temperature": 0.7 }\n',
  "README.md": "nobody needs it",
});
const gguf = writeGguf(
  ggufMetadata(config, { vocab, merges: [] }),
  ggufTensors(tensors, () => "F32"),
);
const torch = join(root, "tests/data/torch");
const torchFile = folderOf({
  ...filesFrom(torch, "config.json"),
  "pytorch_model.bin": readFileSync(join(torch, "zip.bin")),
});
const torchShards = folderOf(
  filesFrom(
    torch,
    "config.json",
    "pytorch_model.bin.index.json",
    "pytorch_model-00001-of-00002.bin",
    "pytorch_model-00002-of-00002.bin",
  ),
);
const [adapter, other] = [1, 2].map((seed) => folderOf(filesOf(makeAdapter(tensors, seed))));

it.each<[string, string, ...string[]]>([
  ["several files", shards],
  ["texts and numbers that need care", texts],
  ["a GGUF file", join(folderOf({ "a b.gguf": gguf, "generation_config.json": "{}" }), "a b.gguf")],
  ["pytorch_model.bin", torchFile],
  ["pytorch_model.bin in several files", torchShards],
  ["two adapters", shards, "--adapter", `${adapter}=0.5`, "--adapter", `${other}=-2`],
  ...readdirSync(tiny).map((name): [string, string] => [name, join(tiny, name)]),
])("the program converts %s to the same bytes as gpt2-weights", async (_, model, ...args) => {
  for (const format of ["q8", "q4", "f16", "f32"]) {
    const { status, stderr } = await convert(model, "--weights", format, "--force", ...args);
    expect([status, stderr]).toEqual([0, ""]);
    expect(contents(out)).toEqual(native(model, "--weights", format, ...args));
  }
  expect(readdirSync(join(out, ".."))).toEqual(["model"]);
});

it("the program lists a converted model with the parameters that gpt2-weights counts", async () => {
  for (const [name, format] of [
    ["untied-bias", "q4"],
    ["no-bias", "q8"],
    ["odd-width", "q4"],
    ["bigcode-one-key-head", "f16"],
  ] as const) {
    await convert(join(tiny, name), "--weights", format, "--force");
    const { parameters } = json(["inspect", out, "--json"]) as { parameters: { total: number } };
    const bytes = Object.keys(contents(out))
      .filter((file) => !["weights.json", ".gitattributes"].includes(file))
      .reduce((sum, file) => sum + statSync(join(out, file)).size, 0);
    const listed = [{ path: "model", format, bytes, parameters: parameters.total }];
    expect(JSON.parse((await run(["list", join(out, ".."), "--json"])).stdout)).toEqual(listed);
  }
  writeFileSync(join(out, "../x.gguf"), "GGUF");
  mkdirSync(join(out, "../bad"));
  for (const name of ["config.json", "weights.json"]) writeFileSync(join(out, "../bad", name), "{");
  expect((await run(["list", join(out, "..")])).stdout).toMatch(
    /^bad {5}damaged {3}0 kB\nmodel {3}f16 {7}\d+ kB\nx\.gguf {2}gguf {6}0 kB\n$/,
  );
});

it.each([
  ["user/tied@v1", []],
  ["hf:user/tied", ["--revision", "v1"]],
  ["user/tied/sub/tale.Q8_0.gguf", ["--adapter", "user/lora"]],
  ["user/tied:q8_0", ["--adapter", "user/lora:1"]],
])("the program converts %s of a hub, to which alone it sends the token", async (id, args) => {
  vi.stubEnv("HF_TOKEN", "hf_secretsecret");
  vi.stubEnv("HF_ENDPOINT", origin);
  const isGguf = /q8_0/i.test(id);
  const merged = isGguf ? ["--adapter", adapter ?? ""] : [];
  if (isGguf)
    hub.files = {
      "sub/tale.Q8_0.gguf": gguf,
      ...filesFrom(adapter ?? "", "adapter_config.json", "adapter_model.safetensors"),
    };
  const { status, stderr } = await convert(id, ...args);
  expect([status, stderr]).toEqual([0, ""]);
  const model = isGguf ? join(folderOf({ "x.gguf": gguf }), "x.gguf") : tied;
  expect(contents(out)).toEqual(native(model, ...merged));
  expect(hub.asked.map(({ host }) => host)).toContain("store");
  for (const { host, token } of hub.asked)
    expect(token).toBe(host === "hub" ? "Bearer hf_secretsecret" : undefined);
});

/** Sends the first bytes of the weights, and aborts the run once some of them are stored. */
function stopHalfway(controller: AbortController, isStored: () => boolean) {
  hub.fault = (name, response) => {
    const bytes = hub.files[name] ?? Buffer.alloc(0);
    if (name !== "model.safetensors") return false;
    response.writeHead(200, { "Content-Length": bytes.length }).write(bytes.subarray(0, 300_000));
    void vi.waitUntil(isStored, { timeout: 50_000 }).then(() => controller.abort("SIGINT"));
    return true;
  };
}

it("an interrupted conversion leaves no folder, and the next run resumes it", async () => {
  const controller = new AbortController();
  const partial = `${out}.partial`;
  const weights = join(partial, "weights");
  stopHalfway(controller, () => existsSync(weights) && statSync(weights).size > 20_000);
  const args = ["convert", "user/tied", out, "--hub", origin];
  const stopped = await run(args, controller.signal);
  expect([stopped.status, existsSync(out)]).toEqual([130, false]);
  expect(stopped.stderr).toContain("run the same command again to resume\ngpt2-wasm: stopped by SIGINT\n");
  hub.fault = () => false;
  hub.asked.length = 0;
  const resumed = await run(args);
  expect([resumed.status, resumed.stderr]).toEqual([0, expect.stringMatching(/^resuming after \d+ kB\n$/)]);
  expect(hub.asked.some(({ range }) => range !== undefined)).toBe(true);
  expect(contents(out)).toEqual(native(tied));
  expect(existsSync(partial)).toBe(false);
});

it("another run's folder is left alone, and a conversion to another format starts again", async () => {
  const partial = `${out}.partial`;
  mkdirSync(partial, { recursive: true });
  writeFileSync(join(partial, "mine"), "");
  expect((await convert(tied)).stderr).toContain("is not a conversion of this program");
  writeFileSync(join(partial, "state.json"), JSON.stringify({ key: "x", pid: process.ppid }));
  expect((await convert(tied)).stderr).toContain("another run is writing");
  writeFileSync(join(partial, "state.json"), JSON.stringify({ key: "x", pid: 2 ** 30 }));
  expect((await convert(tied)).status).toBe(0);
  expect(contents(out)).toEqual(native(tied));
});

/** Gives the hub one more file, or one beside config.json alone. */
const has = (name: string, text: string, beside?: string) => () => {
  const others = beside === undefined ? hub.files : filesFrom(tied, beside);
  hub.files = { ...others, [name]: Buffer.from(text) };
};
const shard = (name: string) =>
  has("model.safetensors.index.json", JSON.stringify({ weight_map: { a: name } }), "config.json");
const makeOut = () => void mkdirSync(out, { recursive: true });
const isGated = () => Object.assign(hub, { status: 403, errorCode: "GatedRepo" });
const conditions = /accept its owner's conditions at \S+, then set HF_TOKEN to your token\n$/;
const badToken = /^gpt2-wasm: HF_TOKEN contains a character that no token has/;
const noFormat = /^gpt2-wasm: --weights is "q5", expected one of q8, q4, f16, f32\n$/;
it.each<[string, RegExp, number, () => unknown, ...string[]]>([
  ["a gated model", conditions, 1, isGated],
  ["no such model", /check the name, or set HF_TOKEN/, 1, () => (hub.status = 401)],
  ["an unreachable hub", /ECONNREFUSED/, 1, () => hub.stop()],
  ["a shard outside the folder", /"\.\.\/\.\.\/x\.safetensors"/, 1, shard("../../x.safetensors")],
  ["a Windows path", /is not the name of a file of the model|expected/, 1, shard("C:\\x.safetensors")],
  ["a converted model", /user\/tied is already converted/, 1, has("weights.json", "{}")],
  ["half a tokenizer", /has vocab\.json, but no merges\.txt/, 1, has("vocab.json", "{}")],
  ["a wrong tokenizer", /tokenizer\.json/, 1, has("tokenizer.json", "{")],
  ["weights of another library", /from_tf=True/, 1, has("tf_model.h5", "x", "config.json")],
  ["a token with a line break", badToken, 2, () => vi.stubEnv("HF_TOKEN", "hf_secret\n")],
  ["another format", noFormat, 2, () => {}, "--weights", "q5"],
  ["an unknown option", /^gpt2-wasm: Unknown option '--what\\u001b'/, 2, () => {}, "--what\u001b"],
  ["an OUT that exists", /model already exists: --force replaces it\n$/, 1, makeOut],
  [
    "an OUT with other files",
    /has "mine", which does not belong to a model/,
    1,
    () => (makeOut(), writeFileSync(join(out, "mine"), "")),
    "--force",
  ],
])(
  "the program refuses %s in one line, and leaves nothing behind",
  async (_, message, status, prepare, ...args) => {
    prepare();
    const existed = existsSync(out) ? readdirSync(out) : undefined;
    const found = await run(["convert", "user/tied", out, "--hub", origin, ...args]);
    expect(found).toEqual({ status, stdout: "", stderr: expect.stringMatching(message) });
    expect(found.stderr).not.toContain("secret\n");
    expect(existsSync(out) ? readdirSync(out) : undefined).toEqual(existed);
    expect(existsSync(`${out}.partial`)).toBe(false);
  },
);

it("the program serves a folder with the headers for threads, ranges, and no hidden files", async () => {
  const folder = folderOf({
    "index.html": "<p>",
    "a.wasm": "1",
    "model.safetensors.000": "0123456789",
    ".env": "secret",
  });
  const controller = new AbortController();
  let address = "";
  vi.spyOn(process.stdout, "write").mockImplementation((text, done) => {
    address = /http:\S+/.exec(String(text))?.[0] ?? "";
    (done as unknown as () => void)();
    return true;
  });
  const ended = main(["serve", folder, "--port", "0"], controller.signal);
  await vi.waitUntil(() => address);
  const get = async (path: string, init?: RequestInit) => fetch(new URL(path, address), init);
  const page = await get("");
  expect([page.headers.get("content-type"), page.headers.get("cross-origin-embedder-policy")]).toEqual([
    "text/html;charset=utf-8",
    "require-corp",
  ]);
  const part = await get("model.safetensors.000", { headers: { Range: "bytes=7-" } });
  expect([part.status, await part.text(), part.headers.get("content-type")]).toEqual([
    206,
    "789",
    "application/octet-stream",
  ]);
  expect((await get("a.wasm")).headers.get("content-type")).toBe("application/wasm");
  const refused = [
    get(".env"),
    get("%2eenv"),
    get("..%2f..%2fetc/passwd"),
    get("none"),
    get("", { method: "POST" }),
  ];
  expect((await Promise.all(refused)).map(({ status }) => status)).toEqual([404, 404, 404, 404, 405]);
  controller.abort("SIGINT");
  expect(await ended).toBe(0);
  rmSync(folder, { recursive: true });
});

it("--help names the options of every command", async () => {
  for (const command of ["convert", "generate", "serve", "list"]) {
    const { status, stdout } = await run([command, "--help"]);
    expect([status, stdout]).toEqual([
      0,
      expect.stringMatching(new RegExp(`^Usage: gpt2-wasm ${command} \\[OPTIONS\\] `)),
    ]);
    expect((await run(["--help"])).stdout).toContain(command);
  }
});
