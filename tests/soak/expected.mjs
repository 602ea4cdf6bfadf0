// What must have been answered: by a cold engine and by the command line, bit for bit.
import { execFileSync } from "node:child_process";
import { isDeepStrictEqual } from "node:util";

/** The options of `gpt2-weights generate` that mean the same as those of the module. */
function flagsOf({ lookup, ignoreEos, stop = [], logprobs: _, ...numbers }) {
  return [
    ...Object.entries(numbers).flatMap(([name, value]) => [
      `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`,
      String(value),
    ]),
    ...(lookup ? [] : ["--no-lookup"]),
    ...(ignoreEos ? ["--ignore-eos"] : []),
    ...stop.flatMap((text) => ["--stop", text]),
  ];
}

/** Runs `tool` on the model folder. */
function generateNatively(tool, folder, { prompt, options }) {
  const from = typeof prompt === "string" ? ["--prompt", prompt] : ["--ids", prompt.join(",")];
  const args = ["generate", folder, "--json", "--threads", "1", ...from, ...flagsOf(options)];
  const output = JSON.parse(
    execFileSync(tool, args, { encoding: "utf8", maxBuffer: 1 << 26, timeout: 300_000 }),
  );
  const continuations = output.continuations ?? [output];
  return {
    continuations: continuations.map(({ ids, logprobs, finish_reason }) => ({
      ids,
      logprobs,
      finishReason: finish_reason,
    })),
    droppedTokens: output.dropped_tokens,
  };
}

/** The part of an answer that the command line gives, too. */
const nativePartOf = ({ continuations, droppedTokens }) => ({
  continuations: continuations.map(({ tokens, finishReason }) => ({
    ids: tokens.map(({ id }) => id),
    logprobs: tokens.map(({ logprob }) => logprob),
    finishReason,
  })),
  droppedTokens,
});

/** Where two values first differ, as a path, with what was expected there and what was found. */
export function difference(expected, found, path = "answer") {
  if (isDeepStrictEqual(expected, found)) return undefined;
  if (typeof expected !== "object" || typeof found !== "object" || !expected || !found)
    return `${path} is ${found}, expected ${expected}`;
  for (const key of new Set([...Object.keys(expected), ...Object.keys(found)])) {
    const deeper = difference(expected[key], found[key], `${path}.${key}`);
    if (deeper) return deeper;
  }
  return `${path} differs`;
}

/** What a left loop had read, beside the beginnings of the whole text. */
function beginningDifference(whole, beginning) {
  for (const [index, { tokens }] of whole.continuations.entries()) {
    const read = beginning.filter((token) => token.index === index);
    const found = difference(tokens.slice(0, read.length), read, `continuation ${index}`);
    if (found) return found;
  }
  return undefined;
}

/**
 * Compares what one round answered. `askCold(call)` asks a fresh engine, `folders` has the models' folders on the disk.
 * Returns how many answers were compared, and sentences that say what differs.
 */
export async function compare(kept, askCold, tool, folders) {
  const expected = new Map();
  const problems = [];
  for (const { call, answer, beginning } of kept) {
    const key = JSON.stringify(call);
    if (!expected.has(key)) {
      const cold = await askCold(call);
      expected.set(key, cold);
      if (call.verb === "generate") {
        const native = generateNatively(tool, folders[call.model], call);
        const differs = difference(native, nativePartOf(cold));
        if (differs)
          problems.push(`the cold engine against the command line: ${differs}, of ${key.slice(0, 2000)}`);
      }
    }
    const whole = expected.get(key);
    const differs = beginning ? beginningDifference(whole, beginning) : difference(whole, answer);
    if (differs) problems.push(`against a cold engine: ${differs}, of ${key.slice(0, 2000)}`);
  }
  return { compared: kept.length, problems };
}
