// The self-test: whether this browser computes, bit for bit, what the engine computes everywhere.
import type { loadModel as LoadModel, Variant } from "../../../../src/client/index.js";
import { sha256 } from "../../../../src/loader/sha256.js";
import { bitsOf, cases, options, promptIds, texts, type Case } from "./cases.js";
import { modelFiles, type Shape } from "./tiny-model.js";

/** One thing that was compared. */
export interface Check {
  variant: Variant;
  name: string;
  expected: string;
  /** What was found instead, or why there is no result. */
  found: string;
}

/** The expected results: expected.ts. */
export interface Expected {
  hashes: Readonly<Record<string, string>>;
  ids: readonly (readonly number[])[];
}

export interface SelfTestOptions {
  loadModel: typeof LoadModel;
  expected: Expected;
  /** The builds that this browser can run. */
  variants: readonly Variant[];
  /** Threads of the builds that use threads. */
  threads: number;
  signal: AbortSignal;
}

export const hasPassed = ({ expected, found }: Check): boolean => expected === found;

const filesOf = (shape: Shape) => modelFiles(shape).map(({ name, content }) => new File([content], name));

type LoadedModel = Awaited<ReturnType<typeof LoadModel>>;

async function hashWritten(model: LoadedModel, signal: AbortSignal): Promise<string> {
  const { continuations } = await model.complete(promptIds, { ...options, signal });
  const written = continuations.map(({ tokens }) => ({
    ids: tokens.map(({ id }) => id),
    logprobs: tokens.map(({ logprob }) => logprob),
  }));
  return (await sha256(new TextEncoder().encode(bitsOf(written)))).slice(0, 16);
}

/** The ids of the first text that differs from the expected ids, or the expected ids. */
async function compareTexts(
  model: LoadedModel,
  { ids }: Expected,
  signal: AbortSignal,
): Promise<Pick<Check, "expected" | "found">> {
  for (const [place, text] of texts.entries()) {
    const expected = JSON.stringify(ids[place]);
    const found = JSON.stringify(await model.tokenize(text, { signal }));
    const name = JSON.stringify(text);
    if (expected !== found) return { expected: `${name}: ${expected}`, found: `${name}: ${found}` };
  }
  const all = `${texts.length} texts alike`;
  return { expected: all, found: all };
}

/** The result of `find`, or the message of its error. An abort is rethrown. */
async function orMessage<T>(signal: AbortSignal, find: () => Promise<T>): Promise<T | Error> {
  try {
    return await find();
  } catch (error) {
    signal.throwIfAborted();
    return error instanceof Error ? error : new Error(String(error));
  }
}

async function* runCase(
  { name, shape, weights, kv }: Case,
  variant: Variant,
  withTexts: boolean,
  { loadModel, expected, threads, signal }: SelfTestOptions,
): AsyncGenerator<Check> {
  const hash = expected.hashes[name] ?? "a hash";
  const load = { variant, weights, kv, signal, cache: false };
  const model = await orMessage(signal, () =>
    loadModel(filesOf(shape), variant.startsWith("threads") ? { ...load, threads } : load),
  );
  if (model instanceof Error) {
    yield { variant, name, expected: hash, found: `it does not load: ${model.message}` };
    return;
  }
  try {
    const found = await orMessage(signal, () => hashWritten(model, signal));
    yield { variant, name, expected: hash, found: found instanceof Error ? found.message : found };
    if (!withTexts) return;
    const compared = await orMessage(signal, () => compareTexts(model, expected, signal));
    const message = compared instanceof Error ? { expected: "ids", found: compared.message } : compared;
    yield { variant, name: "tokenizer", ...message };
  } finally {
    await model.dispose();
  }
}

/** Yields each check as it finishes. Rejects with the signal's reason when that aborts. */
export async function* selfTest(asked: SelfTestOptions): AsyncGenerator<Check> {
  for (const variant of asked.variants) {
    for (const [number, each] of cases.entries()) yield* runCase(each, variant, number === 0, asked);
  }
}

/** The report to copy: what runs where, and a line for each check. */
export function reportOf(
  checks: readonly Check[],
  { browser, release, cores }: { browser: string; release: string; cores: number | undefined },
): string {
  const lines = checks.map((check) => {
    const { variant, name, expected, found } = check;
    const result = hasPassed(check) ? `passed  ` : `FAILED  `;
    const what = hasPassed(check) ? found : `expected ${expected}, found ${found}`;
    return `${result}${variant}, ${name}: ${what}`;
  });
  const failed = checks.filter((check) => !hasPassed(check)).length;
  return [
    `gpt2-wasm ${release}: ${checks.length - failed} of ${checks.length} checks passed`,
    `${browser}; ${cores ?? "an unknown number of"} cores`,
    ...lines,
  ].join("\n");
}

/** Where to report bugs of this browser. */
export function bugsOf(browser: string): { name: string; address: string } {
  if (/Firefox\//.test(browser)) return { name: "Firefox", address: "https://bugzilla.mozilla.org/" };
  if (/Chrome\/|Chromium\//.test(browser))
    return { name: "Chromium", address: "https://issues.chromium.org/" };
  return { name: "WebKit", address: "https://bugs.webkit.org/" };
}
