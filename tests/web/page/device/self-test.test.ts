// The self-test with a model whose answers the test sets.
import { expect, it } from "vitest";
import type { loadModel } from "../../../../web/src/client/index.js";
import { bitsOf, cases, texts } from "../../../../web/page/parts/device/self-test/cases.js";
import {
  bugsOf,
  hasPassed,
  selfTest,
  type Check,
  type Expected,
} from "../../../../web/page/parts/device/self-test/run.js";
import { sha256 } from "../../../../web/src/loader/sha256.js";

const hash = (await sha256(new TextEncoder().encode(bitsOf([{ ids: [3], logprobs: [-1.5] }])))).slice(0, 16);
const right: Expected = {
  hashes: Object.fromEntries(cases.map(({ name }) => [name, hash])),
  ids: texts.map((_, place) => [place]),
};

/** Loads such models; `disposed` counts those that were disposed of. */
function models(ids?: number[]) {
  const counted = { loads: [] as unknown[], disposed: 0 };
  const load = async (_: unknown, options: { signal?: AbortSignal }) => {
    counted.loads.push(options);
    options.signal?.throwIfAborted();
    return {
      complete: async () => ({ continuations: [{ tokens: [{ id: 3, logprob: -1.5 }] }] }),
      tokenize: async (text: string) => ids ?? [texts.indexOf(text)],
      dispose: async () => void (counted.disposed += 1),
    };
  };
  return { counted, load: load as unknown as typeof loadModel };
}

async function run(load: typeof loadModel, signal = new AbortController().signal) {
  const checks: Check[] = [];
  const variants = ["threads", "simd"] as const;
  for await (const check of selfTest({ loadModel: load, expected: right, variants, threads: 2, signal }))
    checks.push(check);
  return checks;
}

const failed = (checks: readonly Check[]) =>
  checks.filter((check) => !hasPassed(check)).map(({ variant, name }) => `${variant} ${name}`);

it("the self-test runs each case and the tokenizer in each build, and leaves no model behind", async () => {
  const { counted, load } = models();
  const checks = await run(load);
  expect(failed(checks)).toEqual([]);
  const names = ["arithmetic in 8 bits", "tokenizer", ...cases.slice(1).map(({ name }) => name)];
  expect(checks.map(({ variant, name }) => `${variant} ${name}`)).toEqual(
    ["threads", "simd"].flatMap((variant) => names.map((name) => `${variant} ${name}`)),
  );
  expect(counted.disposed).toBe(counted.loads.length);
  expect(counted.loads[0]).toMatchObject({ variant: "threads", threads: 2, weights: "q8", cache: false });
  expect(counted.loads.at(-1)).not.toHaveProperty("threads");
});

it("the self-test detects different ids, and shows the first such text", async () => {
  const checks = await run(models([0]).load);
  expect(failed(checks)).toEqual(["threads tokenizer", "simd tokenizer"]);
  const text = JSON.stringify(texts[1]);
  expect(checks[1]).toMatchObject({ expected: `${text}: [1]`, found: `${text}: [0]` });
});

it("an aborted self-test ends and reports nothing more", async () => {
  await expect(run(models().load, AbortSignal.abort(new Error("enough")))).rejects.toThrow("enough");
});

it.each([
  ["Mozilla/5.0 Gecko/20100101 Firefox/153.0", "Firefox"],
  ["AppleWebKit/537.36 (KHTML, like Gecko) Chrome/156.0 Safari/537.36", "Chromium"],
  ["AppleWebKit/605.1.15 (KHTML, like Gecko) Version/19 Safari/605.1.15", "WebKit"],
])("the report of the self-test names the bug tracker of %s", (browser, name) => {
  expect(bugsOf(browser).name).toBe(name);
});
