/** OpenAI's /v1/completions without a server: existing code runs on a model in the page. */
import type { Continuation, FinishReason, GenerateSummary, Model } from "../client/index.js";
import { logprobsOf, scorePrompt, tokenReader, type LogprobToken } from "./logprobs.js";
import { fetchOf, responseOf } from "./fetch.js";
import { readRequest, type Plan } from "./read-request.js";
import { streamOf } from "./stream.js";
import type {
  CompletionChoice,
  CompletionChunk,
  CompletionOptions,
  CompletionPromise,
  CompletionRequest,
  CompletionResult,
  Completions,
  CompletionStream,
  CompletionUsage,
} from "./types.js";

export type * from "./types.js";

type Head = Omit<CompletionResult, "choices" | "usage">;

function headOf(model: Model, name: string): Head {
  const random = Array.from(crypto.getRandomValues(new Uint8Array(14)), (byte) =>
    byte.toString(16).padStart(2, "0"),
  );
  return {
    id: `cmpl-${random.join("")}`,
    object: "text_completion",
    created: Math.floor(Date.now() / 1000),
    model: name,
    system_fingerprint: `gpt2-wasm-${model.info.weights}`,
  };
}

const finishOf = (reason: FinishReason | undefined) => (reason === "length" ? "length" : "stop");

/** The prompt to repeat before each choice. */
interface Echo {
  text: string;
  tokens: LogprobToken[];
}

async function readEcho(
  model: Model,
  prompt: string | number[],
  plan: Plan,
  signal: AbortSignal | undefined,
): Promise<Echo> {
  const text = typeof prompt === "string" ? prompt : await model.detokenize(prompt, { signal });
  const isScored = plan.echo && plan.logprobs !== undefined;
  return { text, tokens: isScored ? await scorePrompt(model, prompt, text, plan.logprobs ?? 0, signal) : [] };
}

const meanLogprob = ({ tokens }: Continuation) =>
  tokens.reduce((sum, { logprob }) => sum + logprob, 0) / Math.max(1, tokens.length);

async function choiceOf(
  model: Model,
  continuation: Continuation,
  index: number,
  echo: Echo,
  plan: Plan,
  signal: AbortSignal | undefined,
): Promise<CompletionChoice> {
  const read = tokenReader(model, echo.text.length, signal);
  const tokens = [...echo.tokens];
  if (plan.logprobs !== undefined) for (const token of continuation.tokens) tokens.push(await read(token));
  return {
    text: (plan.echo ? echo.text : "") + continuation.text,
    index,
    logprobs: plan.logprobs === undefined ? null : logprobsOf(tokens, plan.logprobs),
    finish_reason: finishOf(continuation.finishReason),
  };
}

function usageOf(promptTokens: number, completionTokens: number): CompletionUsage {
  return {
    prompt_tokens: promptTokens,
    completion_tokens: completionTokens,
    total_tokens: promptTokens + completionTokens,
  };
}

async function complete(
  model: Model,
  plan: Plan,
  signal: AbortSignal | undefined,
): Promise<CompletionResult> {
  const choices: CompletionChoice[] = [];
  let promptTokens = 0;
  let completionTokens = 0;
  for (const prompt of plan.prompts) {
    const completion = await model.complete(prompt, { ...plan.call, signal });
    const echo = await readEcho(model, prompt, plan, signal);
    const { continuations } = completion;
    const best =
      plan.bestOf === plan.n
        ? continuations
        : [...continuations].sort((a, b) => meanLogprob(b) - meanLogprob(a)).slice(0, plan.n);
    for (const continuation of best)
      choices.push(await choiceOf(model, continuation, choices.length, echo, plan, signal));
    promptTokens += completion.promptTokens;
    completionTokens += continuations.reduce((sum, { tokens }) => sum + tokens.length, 0);
  }
  return { ...headOf(model, plan.model), choices, usage: usageOf(promptTokens, completionTokens) };
}

/** Every choice is echoed with the first token, then written token by token, then ended. */
async function* streamChunks(model: Model, plan: Plan, signal: AbortSignal): AsyncGenerator<CompletionChunk> {
  const head = headOf(model, plan.model);
  const chunk = (index: number, text: string, tokens: LogprobToken[]): CompletionChunk => {
    const logprobs = plan.logprobs === undefined ? null : logprobsOf(tokens, plan.logprobs);
    return { ...head, choices: [{ text, index, logprobs, finish_reason: null }] };
  };
  let promptTokens = 0;
  let completionTokens = 0;
  for (const [number, prompt] of plan.prompts.entries()) {
    const first = number * plan.n;
    const echo = await readEcho(model, prompt, plan, signal);
    const readers = Array.from({ length: plan.n }, () => tokenReader(model, echo.text.length, signal));
    let summary: GenerateSummary | undefined;
    const call = { ...plan.call, signal, onSummary: (end: GenerateSummary) => void (summary = end) };
    const written = model.generate(prompt, call);
    let next = await written.next(); // before the echo, which would hide that the prompt does not fit
    if (plan.echo) {
      for (let i = 0; i < plan.n; ++i) yield chunk(first + i, echo.text, echo.tokens);
    }
    for (; !next.done; next = await written.next()) {
      const token = next.value;
      const read = plan.logprobs === undefined ? undefined : await readers[token.index]?.(token);
      completionTokens += 1;
      yield chunk(first + token.index, token.text, read ? [read] : []);
    }
    for (const [index, reason] of (summary?.finishReasons ?? []).entries()) {
      const end = {
        text: "",
        index: first + index,
        logprobs: null,
        finish_reason: finishOf(reason),
      } as const;
      yield { ...head, choices: [end] };
    }
    promptTokens += summary?.promptTokens ?? 0;
  }
  if (plan.includeUsage) yield { ...head, choices: [], usage: usageOf(promptTokens, completionTokens) };
}

/** `result` with the methods of OpenAI's client for a server's response. */
function withAnswer<T extends CompletionResult | CompletionStream>(result: Promise<T>): CompletionPromise<T> {
  const asResponse = async () => responseOf(await result);
  const withResponse = async () => {
    const data = await result;
    return { data, response: responseOf(data), request_id: null };
  };
  return Object.assign(result, { asResponse, withResponse });
}

/** `create` for `model`: `const client = { completions: completions(model) }` replaces OpenAI's client. */
export function completions(model: Model): Completions {
  async function answer(request: CompletionRequest, options: CompletionOptions) {
    const plan = readRequest(request);
    const signal = options.signal ?? undefined;
    signal?.throwIfAborted();
    return plan.stream
      ? streamOf((stopped) => streamChunks(model, plan, stopped), signal)
      : complete(model, plan, signal);
  }
  const create = (request: CompletionRequest, options: CompletionOptions = {}) =>
    withAnswer(answer(request, options));
  return { create: create as Completions["create"] };
}

/**
 * A `fetch` for clients of OpenAI's API: `new OpenAI({ fetch: completionsFetch(model), ... })`. The model answers POST to
 * any address that ends in /completions, except /chat/completions; no host is contacted. An invalid request gets an error
 * status and a message, as from a server.
 */
export const completionsFetch = (model: Model): typeof fetch => fetchOf(completions(model));
