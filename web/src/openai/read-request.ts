// Converts a completion request to engine options. What the engine does not support is an error that says so.
import { InvalidArgumentError, type GenerateCall } from "../client/index.js";
import {
  mostContinuations,
  numberOptionNames,
  numberOptions,
  type NumberOption,
} from "../shared/generate-options.js";
import { describeValue } from "../shared/refuse.js";
import type { CompletionRequest } from "./types.js";

export interface Plan {
  model: string;
  prompts: (string | number[])[];
  call: GenerateCall;
  /** Number of choices to return. */
  n: number;
  bestOf: number;
  /** undefined: none are reported. */
  logprobs: number | undefined;
  echo: boolean;
  stream: boolean;
  includeUsage: boolean;
}

type Fields = Readonly<Record<string, unknown>>;

function refuse(message: string): never {
  throw new InvalidArgumentError("invalid-argument", message);
}

/** Numbers of a request that control what is reported, not how to sample. */
const counts = {
  n: { openai: "n", initial: 1, least: 1, most: mostContinuations, isWhole: true },
  bestOf: { openai: "best_of", initial: null, least: 1, most: mostContinuations, isWhole: true },
  logprobs: { openai: "logprobs", initial: null, least: 0, most: 100, isWhole: true },
} as const satisfies Record<string, NumberOption>;

/** Members that the engine does not support, and the reason. Neutral values are accepted. */
const missing: Readonly<Record<string, string>> = {
  logit_bias: "the engine cannot change the probability of single tokens",
  suffix: "GPT-2 only continues a text: it cannot use a text that follows",
  messages: "GPT-2 has no chat format; write the conversation as text into prompt",
  tools: "GPT-2 has no chat format, and calls no functions",
  max_completion_tokens: "completions have max_tokens",
};

const known: readonly string[] = [
  ...["model", "prompt", "stop", "echo", "stream", "stream_options", "user"],
  ...[...Object.values(counts), ...Object.values(numberOptions)].map(
    ({ openai }): keyof CompletionRequest => openai, // types.ts declares each
  ),
  ...Object.keys(missing),
];

/** What -1 means to llama.cpp's server and vLLM: no limit, or a random seed. */
const atMinusOne: Readonly<Record<string, number | null>> = {
  max_tokens: numberOptions.maxNewTokens.most,
  top_k: 0,
  seed: null,
};

/** The number for an option; undefined if the request has none and the option has no initial value. */
function readNumber(fields: Fields, option: NumberOption): number | undefined {
  const { openai: name, least, most, isWhole } = option;
  const given = fields[name] === -1 && name in atMinusOne ? atMinusOne[name] : fields[name];
  const value = given ?? option.openaiInitial ?? option.initial;
  if (value === null) return undefined;
  const fits = typeof value === "number" && value >= least && value <= most;
  if (fits && (!isWhole || Number.isInteger(value))) return value;
  return refuse(
    `${name} is ${describeValue(value)}, expected a ${isWhole ? "whole " : ""}number from ${least} to ${most}`,
  );
}

function readFlag(fields: Fields, name: string): boolean {
  const value = fields[name] ?? false;
  return typeof value === "boolean"
    ? value
    : refuse(`${name} is ${describeValue(value)}, expected true or false`);
}

const isIds = (value: unknown): value is number[] =>
  Array.isArray(value) && value.length > 0 && value.every((id) => typeof id === "number");

function readModel(model: unknown): string {
  return typeof model === "string" ? model : refuse(`model is ${describeValue(model)}, expected a name`);
}

function readPrompts(prompt: unknown): (string | number[])[] {
  if (typeof prompt === "string") return [prompt];
  if (isIds(prompt)) return [prompt];
  const isList = Array.isArray(prompt) && prompt.length > 0;
  if (isList && prompt.every((each): each is string => typeof each === "string")) return prompt;
  if (isList && prompt.every(isIds)) return prompt;
  return refuse(
    `prompt is ${describeValue(prompt)}, expected text, an array of token ids, or an array of these`,
  );
}

function readStop(stop: unknown): string | string[] | undefined {
  if (stop === undefined || stop === null || typeof stop === "string") return stop ?? undefined;
  if (Array.isArray(stop) && stop.every((each): each is string => typeof each === "string")) return stop;
  return refuse(`stop is ${describeValue(stop)}, expected text or an array of texts`);
}

function readStreamOptions(options: unknown): Fields {
  if (options === undefined || options === null) return {};
  if (typeof options === "object" && !Array.isArray(options)) return options as Fields;
  return refuse(`stream_options is ${describeValue(options)}, expected an object`);
}

function asksForNothing(value: unknown): boolean {
  if (value === undefined || value === null || value === 0 || value === "") return true;
  return typeof value === "object" && Object.keys(value).length === 0;
}

export function readRequest(request: unknown): Plan {
  if (typeof request !== "object" || request === null || Array.isArray(request)) {
    return refuse(`a completion request is ${describeValue(request)}, expected an object`);
  }
  const fields = request as Fields;
  for (const name of Object.keys(fields)) {
    if (!known.includes(name))
      refuse(
        `a completion request has the unknown member ${describeValue(name)}, expected ${known.join(", ")}`,
      );
  }
  for (const [name, reason] of Object.entries(missing)) {
    if (!asksForNothing(fields[name])) refuse(`${name} is ${describeValue(fields[name])}, but ${reason}`);
  }
  const n = readNumber(fields, counts.n) ?? 1;
  const bestOf = readNumber(fields, counts.bestOf) ?? n;
  const stream = readFlag(fields, "stream");
  if (bestOf < n) refuse(`best_of is ${bestOf}, expected at least n, which is ${n}`);
  if (stream && bestOf > n)
    refuse(`best_of is ${bestOf}: the best text is known only at the end, so it cannot be streamed`);
  const logprobs = readNumber(fields, counts.logprobs);
  return {
    model: readModel(fields.model ?? "gpt2"),
    prompts: readPrompts(fields.prompt ?? ""),
    call: {
      ...Object.fromEntries(numberOptionNames.map((name) => [name, readNumber(fields, numberOptions[name])])),
      stop: readStop(fields.stop),
      logprobs,
      n: bestOf,
      strict: true, // as a server does, which cuts nothing
    },
    n,
    bestOf,
    logprobs,
    echo: readFlag(fields, "echo"),
    stream,
    includeUsage: readFlag(readStreamOptions(fields.stream_options), "include_usage"),
  };
}
