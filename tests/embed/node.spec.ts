// The package in Node.js, as an embedder's own tests use it.
import { execFile, spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "@playwright/test";
import { serve } from "../browsers/static-host.js";
import { native } from "../e2e/model.js";
import { ggufMetadata, ggufTensors, writeGguf } from "../web/support/gguf.js";
import { readSafetensors } from "../web/support/safetensors.js";
import { StandInHub } from "../weights_tools/stand-in-hub.js";
import { hangLimits } from "../support/hang-limits.js";
import { expectedText, jsonLines, makeApp, root } from "./app.js";

const demo = join(root, "web/models/demo");
const untilHung = { timeout: hangLimits.timeout };

test("a model from a folder writes what the command line does, and the program ends by itself", () => {
  const options = { cwd: makeApp("node"), encoding: "utf8", ...untilHung } as const;
  const { status, stdout, stderr } = spawnSync(process.execPath, ["main.js", demo], options);
  expect([status, stdout]).toEqual([0, expectedText()]);
  expect(stderr).toMatch(/^threads/);
});

/** The lines of JSON that `code` prints in a module of the app. */
async function inApp(code: string): Promise<unknown[]> {
  const imports = `
    import { loadModel, LoadError } from "gpt2-wasm";
    const print = (value) => console.log(JSON.stringify(value));`;
  const args = ["--input-type=module", "-e", imports + code];
  const options = { cwd: makeApp("node"), ...untilHung };
  const { stdout } = await promisify(execFile)(process.execPath, args, options);
  return jsonLines(stdout);
}

test("every build writes the same text, in as many threads as requested", async () => {
  const said = await inApp(`
    for (const options of [{ variant: "simd" }, { variant: "threads", threads: 2 }]) {
      const model = await loadModel(${JSON.stringify(demo)}, options);
      const { text } = await model.complete("Once upon a time", { maxNewTokens: 24, seed: 1 });
      print([model.info.threads, text]);
      await model.dispose();
    }`);
  expect(said).toEqual([1, 2].map((threads) => [threads, expectedText()]));
});

test("a Hub id and an address load the model, and the error for a missing one names what was asked", async () => {
  const hub = new StandInHub();
  for (const name of readdirSync(demo)) hub.files[name] = readFileSync(join(demo, name));
  const origin = await hub.start();
  const host = await serve({ "/models/": join(root, "web/models") });
  const models = ["user/tale@v1", `${host.origin}/models/demo`];
  const missing = ["user/none@v9", `${host.origin}/models/none`, "./models/none"];
  const said = await inApp(`
    for (const name of ${JSON.stringify([...models, ...missing])}) {
      const model = await loadModel(name, name.startsWith("user/") ? { hub: "${origin}" } : {}).catch((error) => error);
      if (model instanceof Error) print((model instanceof LoadError) + " " + model.code + ": " + model.message);
      else print((await model.complete("Once upon a time", { maxNewTokens: 24, seed: 1 })).text);
      await model.dispose?.();
    }`);
  await host.close();
  hub.stop();
  expect(said).toEqual([
    ...models.map(() => expectedText()),
    expect.stringMatching(/user\/none@v9 from localhost:\d+: it has no revision "v9"/),
    expect.stringMatching(/^true not-found: .*http:.*\/models\/none\/config\.json/),
    expect.stringMatching(/^true not-found: .*file:.*\/models\/none\/config\.json/),
  ]);
});

const tiny = join(root, "tests/data/tiny-models/tied");
const gguf = join(root, "build/embed/tied.gguf");
for (const [what, source, weights] of [
  ["a folder of floats", tiny, undefined],
  ["a folder of floats in 4 bits", tiny, "q4"],
  ["a GGUF file", gguf, undefined],
  ["a GGUF file in 4 bits", gguf, "q4"],
  ["a GGUF file in floats", gguf, "f32"],
] as const) {
  test(`${what} writes the text and the bit-identical logprobs of the command line`, async () => {
    const config = JSON.parse(readFileSync(join(tiny, "config.json"), "utf8")) as Record<string, unknown>;
    const tensors = readSafetensors(readFileSync(join(tiny, "model.safetensors")));
    const inQ8 = ggufTensors(tensors, () => "Q8_0");
    writeFileSync(gguf, writeGguf(ggufMetadata(config), inQ8));
    const [said] = await inApp(`
      const model = await loadModel(${JSON.stringify(source)}, ${JSON.stringify({ weights })});
      const { tokens } = await model.complete([1, 2, 3], { maxNewTokens: 12, temperature: 0, ignoreEos: true });
      print(tokens.map(({ id, logprob }) => [id, logprob]));
      await model.dispose();`);
    const { ids, logprobs } = native(
      ...["generate", source, "--ids", "1,2,3", "--max-new-tokens", "12", "--temperature", "0"],
      ...["--ignore-eos", "--json", ...(weights ? ["--weights", weights] : [])],
    ) as { ids: number[]; logprobs: number[] };
    expect(said).toEqual(ids.map((id, i) => [id, Math.fround(logprobs[i] ?? 0)]));
  });
}

const small = join(process.env.GPT2_MODELS ?? "", "gpt2");

test("GPT-2 small has the heads that papers name (GPT2_MODELS/gpt2)", async () => {
  test.skip(!existsSync(small), "GPT2_MODELS has no folder gpt2");
  const [induction, movers] = await inApp(`
    const model = await loadModel(${JSON.stringify(small)});
    const top = (all, value) => [...all].sort((a, b) => value(b) - value(a)).slice(0, 5).map(({ layer, head }) => layer + "." + head);
    print(top(await model.heads(), (head) => head.induction));
    const sums = Array.from({ length: 144 }, (_, i) => ({ layer: Math.floor(i / 12), head: i % 12, sum: 0 }));
    for (const [one, other] of [["Mary", "John"], ["Tom", "James"], ["Sarah", "Paul"], ["Dan", "Anna"]]) {
      const text = "When " + one + " and " + other + " went to the store, " + other + " gave a drink to";
      const { heads } = await model.attribute(text, { token: " " + one, against: " " + other });
      heads.forEach((part, i) => (sums[i].sum += part));
    }
    print(top(sums, ({ sum }) => sum));
    await model.dispose();`);
  expect(induction).toEqual(expect.arrayContaining(["5.1", "5.5", "6.9"])); // Olsson et al. 2022
  expect(movers).toEqual(expect.arrayContaining(["9.9", "10.0", "9.6"])); // Wang et al. 2022
});
