// Computes the expected answers with a cold engine and with the command line, and compares them bit for bit.
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
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

/** @type {import("node:child_process").ExecFileSyncOptionsWithStringEncoding} */
const limits = { encoding: "utf8", maxBuffer: 1 << 26, timeout: 300_000 };

function generateNatively(tool, folder, { prompt, options }) {
  const from = typeof prompt === "string" ? ["--prompt", prompt] : ["--ids", prompt.join(",")];
  const args = ["generate", folder, "--json", "--threads", "1", ...from, ...flagsOf(options)];
  const output = JSON.parse(execFileSync(tool, args, limits));
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

function scoreNatively(tool, folder, { prompt }, scratch) {
  const file = join(scratch, "text");
  writeFileSync(file, prompt);
  const args = ["eval", folder, file, "--json", "--threads", "1"];
  const { tokens, loss } = JSON.parse(execFileSync(tool, args, limits));
  return { tokens, loss };
}

/** Whether the command line gives this answer, too: it scores only texts that have a token to predict. */
const isNative = ({ verb, prompt }, answer) =>
  verb !== "score" || (typeof prompt === "string" && answer.tokens.length > 1);

/** The answer of `tool`, the command line, to `call` on the model folder. */
function askNatively(tool, folder, call, scratch) {
  switch (call.verb) {
    case "generate":
      return generateNatively(tool, folder, call);
    case "score":
      return scoreNatively(tool, folder, call, scratch);
    case "tokenize":
      return JSON.parse(execFileSync(tool, ["tokenize", folder], { ...limits, input: call.text }));
    case "detokenize":
      return JSON.parse(
        execFileSync(tool, ["detokenize", folder, "--json"], { ...limits, input: JSON.stringify(call.ids) }),
      );
  }
}

/** The part of an answer that the command line gives, too. */
function nativePartOf({ verb }, answer) {
  switch (verb) {
    case "generate":
      return {
        continuations: answer.continuations.map(({ tokens, finishReason }) => ({
          ids: tokens.map(({ id }) => id),
          logprobs: tokens.map(({ logprob }) => logprob),
          finishReason,
        })),
        droppedTokens: answer.droppedTokens,
      };
    case "score":
      return { tokens: answer.tokens.length, loss: -answer.logprob / (answer.tokens.length - 1) };
    default:
      return answer;
  }
}

/** The path at which two values first differ, with the expected and the found value. */
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

/** Compares what an abandoned loop had read with the beginnings of the whole text. */
function beginningDifference(whole, beginning) {
  for (const [index, { tokens }] of whole.continuations.entries()) {
    const read = beginning.filter((token) => token.index === index);
    const found = difference(tokens.slice(0, read.length), read, `continuation ${index}`);
    if (found) return found;
  }
  return undefined;
}

/**
 * Compares the answers of one round. `askCold(call)` asks a fresh engine, `folders` has the models' folders on the disk,
 * `scratch` is one to write into.
 * Returns how many answers were compared, and sentences that say what differs.
 */
export async function compare(kept, askCold, tool, folders, scratch) {
  const expected = new Map();
  const problems = [];
  for (const { call, answer, beginning } of kept) {
    const key = JSON.stringify(call);
    if (!expected.has(key)) {
      const cold = await askCold(call);
      expected.set(key, cold);
      if (isNative(call, cold)) {
        const native = askNatively(tool, folders[call.model], call, scratch);
        const differs = difference(native, nativePartOf(call, cold));
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
