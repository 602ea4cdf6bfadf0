// OpenAI's /v1/completions on top of a fake model.
import { expect, it, vi } from "vitest";
import type { Completion, GenerateCall, Model, Token } from "../../web/src/client/index.js";
import { CapacityError } from "../../web/src/shared/errors.js";
import {
  completions,
  completionsFetch,
  type CompletionChunk,
  type CompletionOptions,
  type CompletionResult,
} from "../../web/src/openai/index.js";

/** A word a token, whose id is its place among all; continuation i writes the words of texts[i]. */
function fakeModel(texts = [[" b", " c"], [" d"]]) {
  const vocabulary = texts.flat();
  const tokensOf = (call: GenerateCall): Token[][] =>
    texts.slice(0, call.n ?? 1).map((words, index) =>
      words.slice(0, call.maxNewTokens ?? 64).map((text) => ({
        index,
        id: vocabulary.indexOf(text),
        text,
        logprob: -1 - index,
        rank: 1,
        ...(call.logprobs ? { top: [{ id: 9, text: " z", logprob: -0.5 }] } : {}),
      })),
    );
  const complete = vi.fn(async (prompt: string | number[], call: GenerateCall) => {
    const continuations = tokensOf(call).map((tokens, index) => ({
      text: tokens.map(({ text }) => text).join(""),
      tokens,
      finishReason: (["length", "eos"] as const)[index % 2],
      seed: index,
    }));
    return { ...continuations[0], continuations, promptTokens: prompt.length } as unknown as Completion;
  });
  async function* generate(prompt: string, call: GenerateCall) {
    for (const token of tokensOf(call).flat()) {
      call.signal?.throwIfAborted();
      yield token;
    }
    call.signal?.throwIfAborted();
    call.onSummary?.({
      finishReasons: tokensOf(call).map(() => "stop"),
      promptTokens: prompt.length,
    } as never);
  }
  const model = {
    info: { weights: "q8" },
    complete,
    generate: vi.fn(generate),
    tokenize: async (text: string) => text.split(" ").map((_, i) => i),
    detokenize: async (ids: number[]) => ids.map((id) => vocabulary[id] ?? `<${id}>`).join(""),
    score: async (ids: number[]) => ({
      tokens: ids.map((id, i) => ({ id, text: `<${id}>`, logprob: i === 0 ? null : -i })),
    }),
  };
  const given = model as unknown as Model;
  return { model, client: completions(given), fetch: completionsFetch(given) };
}

it("completions.create has the API's shape and defaults", async () => {
  const { client, model } = fakeModel();
  const result: CompletionResult = await client.create({ model: "gpt-3.5-turbo-instruct", prompt: "one" });
  expect(result).toStrictEqual({
    id: expect.stringMatching(/^cmpl-[0-9a-f]{28}$/),
    object: "text_completion",
    created: expect.closeTo(Date.now() / 1000, -1),
    model: "gpt-3.5-turbo-instruct",
    system_fingerprint: "gpt2-wasm-q8",
    choices: [{ text: " b c", index: 0, logprobs: null, finish_reason: "length" }],
    usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 },
  });
  const initial = { maxNewTokens: 16, temperature: 1, topP: 1, topK: 0, n: 1, strict: true };
  expect(model.complete.mock.calls[0]?.[1]).toMatchObject(initial);
});

it("completions.create passes on its options, except null", async () => {
  const { client, model } = fakeModel();
  const stop = ["\n"];
  const set = {
    max_tokens: 5,
    min_tokens: 2,
    temperature: 0,
    top_p: 0.5,
    frequency_penalty: -1,
    seed: 7,
    stop,
  };
  await client.create({ ...set, user: "me", logit_bias: {} });
  const neutral = { presence_penalty: null, suffix: null, stream: null };
  await client.create({ max_tokens: null, n: null, stop: null, ...neutral });
  await client.create({ max_tokens: -1, top_k: -1, seed: -1 }); // as llama.cpp's server reads them
  expect(model.complete.mock.calls).toMatchObject([
    [
      "",
      { maxNewTokens: 5, minNewTokens: 2, temperature: 0, topP: 0.5, frequencyPenalty: -1, seed: 7, stop },
    ],
    ["", { maxNewTokens: 16, n: 1, presencePenalty: 0 }],
    ["", { maxNewTokens: 2 ** 24, topK: 0, seed: undefined }],
  ]);
});

it("completions.create numbers the choices of several prompts in sequence", async () => {
  const { client, model } = fakeModel();
  const { choices, usage } = await client.create({ prompt: ["one", "three"], n: 2 });
  expect(choices.map(({ index, text, finish_reason }) => [index, text, finish_reason])).toEqual([
    [0, " b c", "length"],
    [1, " d", "stop"],
    [2, " b c", "length"],
    [3, " d", "stop"],
  ]);
  expect(usage).toEqual({ prompt_tokens: 8, completion_tokens: 6, total_tokens: 14 });
  await client.create({ prompt: [1, 2] });
  await client.create({ prompt: [[1], [2, 3]] });
  expect(model.complete.mock.calls.slice(2).map(([prompt]) => prompt)).toEqual([[1, 2], [1], [2, 3]]);
});

it("completions.create returns the most probable of best_of", async () => {
  const { client } = fakeModel([[" dull"], [" worse"]]);
  const { choices, usage } = await client.create({ best_of: 2 });
  expect(choices.map(({ text }) => text)).toEqual([" dull"]);
  expect(usage.completion_tokens).toBe(2);
});

it("each token has its own text and place, also if a stop text or a character that is not complete is held back", async () => {
  const { client, model } = fakeModel();
  const own = ["\ufffd", "\ufffd", " aX", "Yb", "?"];
  const final = ["", "中", " a", "XYb", "?"];
  model.detokenize = async (ids) => ids.map((id) => own[id]).join("");
  const tokens = final.map((text, id) => ({ index: 0, id, text, logprob: -1, rank: 1 }));
  model.complete.mockResolvedValue({ continuations: [{ text: final.join(""), tokens }] } as never);
  model.generate.mockImplementation(async function* () {
    yield* tokens;
  });
  const expected = { tokens: own, text_offset: [0, 0, 1, 4, 6] };
  const { choices } = await client.create({ logprobs: 0 });
  expect(choices[0]).toMatchObject({ text: "中 aXYb?", logprobs: expected });
  const stream = await client.create({ logprobs: 0, stream: true });
  const streamed: [string, number][] = [];
  for await (const { choices } of stream)
    for (const { logprobs } of choices)
      streamed.push([logprobs?.tokens[0] ?? "", logprobs?.text_offset[0] ?? NaN]);
  expect(streamed).toEqual(own.map((text, i) => [text, expected.text_offset[i]]));
});

it("a token has its text inside a text, also if the decoder drops the space before the first token", async () => {
  const { client, model } = fakeModel();
  const decode = model.detokenize;
  model.detokenize = async (ids) => (await decode(ids)).replace(/^ /, "");
  const { choices } = await client.create({ prompt: "ab", logprobs: 0 });
  const logprobs = { tokens: [" b", " c"], top_logprobs: null, text_offset: [2, 4] };
  expect(choices[0]?.logprobs).toMatchObject(logprobs);
});

it("a token whose bytes join into a character after itself has its own text", async () => {
  const { client, model } = fakeModel([["\ufffd\ufffd"]]);
  const bytes = [0xbc, 0xe3, 0x83]; // the end and the beginning of a character
  model.detokenize = async (ids) => new TextDecoder().decode(Uint8Array.from(ids.flatMap(() => bytes)));
  const { choices } = await client.create({ prompt: "ab", logprobs: 0 });
  expect(choices[0]?.logprobs?.tokens).toEqual(["\ufffd\ufffd"]);
});

it.each([
  [[0xe2, 0x80], "bytes:\\xe2\\x80"],
  [[0xf0], "bytes:\\xf0"],
  [[0xed], "bytes:\\xed"],
  [[0x99, 0x20, 0xc3], "bytes:\\x99 \\xc3"],
  [[0xff], "\ufffd"], // no character has this byte
])("a token of the bytes %j has the name %s, in tokens and in top_logprobs", async (bytes, name) => {
  const { client, model } = fakeModel();
  const vocabulary = [bytes, [0xf3], [0xb0], [0x80], bytes];
  model.tokenize = async () => [1, 2, 3, 3];
  model.detokenize = async (ids) =>
    new TextDecoder().decode(Uint8Array.from(ids.flatMap((id) => vocabulary[id] ?? [])));
  const text = await model.detokenize([0]);
  const top = [4, 0].map((id) => ({ id, text, logprob: -id }));
  const tokens = [{ index: 0, id: 0, text: "", logprob: -9, rank: 2, top }];
  model.complete.mockResolvedValue({ continuations: [{ text: "", tokens }] } as never);
  const { choices } = await client.create({ logprobs: 2 });
  expect(choices[0]?.logprobs).toMatchObject({
    tokens: [`${name} (token 0)`],
    top_logprobs: [{ [name]: -4, [`${name} (token 0)`]: -0 }],
  });
});

it("a prompt's tokens have their places also after a character of several tokens", async () => {
  const { client, model } = fakeModel([["!"]]);
  model.score = async () => ({
    tokens: [" a", "\ufffd", "\ufffd", " b"].map((text, id) => ({ id: id + 7, text, logprob: -1 })),
  });
  const { choices } = await client.create({ prompt: " a中 b", echo: true, logprobs: 0 });
  expect(choices[0]?.logprobs?.text_offset).toEqual([0, 2, 2, 3, 5]);
});

it("completions.create echoes the prompt, with its own logprobs", async () => {
  const { client } = fakeModel();
  const { choices } = await client.create({ prompt: [4, 5], echo: true, logprobs: 1, max_tokens: 1 });
  expect(choices[0]).toEqual({
    text: "<4><5> b",
    index: 0,
    finish_reason: "length",
    logprobs: {
      tokens: ["<4>", "<5>", " b"],
      token_logprobs: [null, -1, -1],
      top_logprobs: [null, { " z": -0.5, "<5>": -1 }, { " z": -0.5, " b": -1 }],
      text_offset: [0, 3, 6],
    },
  });
  expect((await client.create({ prompt: "ab", echo: true })).choices[0]?.text).toBe("ab b c");
});

const prompts = "prompt is an array, expected text, an array of token ids, or an array of these";
it.each([
  [{ frequency_penalty: 2.5 }, "frequency_penalty is 2.5, expected a number from -2 to 2"],
  [{ logit_bias: { "50256": -100 } }, "logit_bias is an object, but the engine cannot change the"],
  [{ suffix: "x".repeat(1e6) }, `suffix is "${"x".repeat(40)}…", but GPT-2 only continues a text`],
  [{ max_tokens: 1.5 }, "max_tokens is 1.5, expected a whole number from 0 to 16777216"],
  [{ best_of: -1 }, "best_of is -1, expected a whole number from 1 to 16"],
  [{ top_p: 2 }, "top_p is 2, expected a number from 0 to 1"],
  [{ seed: 5n }, "seed is 5n, expected a whole number from 0 to 9007199254740991"],
  [{ n: 3, best_of: 2 }, "best_of is 2, expected at least n, which is 3"],
  [{ best_of: 2, stream: true }, "best_of is 2: the best text is known only at the end, so it cannot be"],
  [{ echo: 1 }, "echo is 1, expected true or false"],
  [{ prompt: [] }, prompts],
  [{ prompt: [1n] }, prompts],
  [{ stop: [1] }, "stop is an array, expected text or an array of texts"],
  [{ model: {} }, "model is an object, expected a name"],
  [{ size: 1 }, 'a completion request has the unknown member "size", expected model, prompt, stop,'],
  [
    { messages: [{}] },
    "messages is an array, but GPT-2 has no chat format; write the conversation as text into",
  ],
  [{ max_completion_tokens: 5 }, "max_completion_tokens is 5, but completions have max_tokens"],
  ["text", 'a completion request is "text", expected an object'],
])("completions.create refuses %o with a short message", async (request, message) => {
  const { client, model } = fakeModel();
  const error = (await client.create(request as object).catch((thrown: unknown) => thrown)) as Error;
  expect(error).toMatchObject({ code: "invalid-argument", message: expect.stringContaining(message) });
  expect(error.message.length).toBeLessThan(500);
  expect(model.complete).not.toHaveBeenCalled();
});

const read = async (stream: AsyncIterable<CompletionChunk>) => {
  const chunks: CompletionChunk[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return chunks;
};
/** A new stream of two tokens. */
const start = (options: CompletionOptions = {}) =>
  fakeModel().client.create({ prompt: "ab", stream: true }, options);

it("a stream gives each choice token by token, its end, and the usage if requested", async () => {
  const { client } = fakeModel();
  const request = { prompt: "ab", n: 2, echo: true, logprobs: 1, stream_options: { include_usage: true } };
  const chunks = await read(await client.create({ ...request, stream: true }));
  expect(new Set(chunks.map(({ id, object }) => `${id} ${object}`)).size).toBe(1);
  expect(
    chunks.flatMap(({ choices }) => choices.map((each) => [each.index, each.text, each.finish_reason])),
  ).toEqual([
    [0, "ab", null],
    [1, "ab", null],
    [0, " b", null],
    [0, " c", null],
    [1, " d", null],
    [0, "", "stop"],
    [1, "", "stop"],
  ]);
  expect(chunks.at(-1)).toMatchObject({
    choices: [],
    usage: { prompt_tokens: 2, completion_tokens: 3, total_tokens: 5 },
  });
  expect(chunks[0]).not.toHaveProperty("usage");
  const offsets = chunks.slice(2, 5).map(({ choices }) => choices[0]?.logprobs?.text_offset);
  expect(offsets).toEqual([[2], [4], [2]]);
});

it("a stream ends quietly when its controller or the caller's signal aborts it, as OpenAI's client does", async () => {
  const stream = await start();
  stream.controller.abort();
  expect(await read(stream)).toEqual([]);
  const caller = new AbortController();
  let chunks = 0;
  for await (const _ of await start({ signal: caller.signal })) {
    chunks += 1;
    caller.abort();
  }
  expect(chunks).toBe(1);
  await expect(start({ signal: AbortSignal.abort() })).rejects.toThrow(/abort/);
  const reasoned = await start();
  reasoned.controller.abort(new Error("enough"));
  await expect(read(reasoned)).rejects.toThrow("enough");
});

it("a stream can be read twice after tee, and as lines of JSON", async () => {
  const stream = await start();
  const [one, two] = stream.tee();
  const chunks = await read(one);
  expect(chunks.length).toBeGreaterThan(1);
  expect(await read(two)).toEqual(chunks);
  expect(stream.controller.signal.aborted).toBe(false);
  await expect(read(stream)).rejects.toThrow("use `.tee()`");
  const lines = (await new Response((await start()).toReadableStream()).text()).trimEnd().split("\n");
  const textOf = (all: CompletionChunk[]) => all.map(({ choices }) => choices[0]?.text);
  expect(textOf(lines.map((line) => JSON.parse(line) as CompletionChunk))).toEqual(textOf(chunks));
});

it("leaving the loop of a stream aborts its controller", async () => {
  const left = await start();
  for await (const _ of left) break;
  expect(left.controller.signal.aborted).toBe(true);
});

it("a stream comes with a Response, whose body is read only on demand", async () => {
  const { client } = fakeModel();
  const { data, response } = await client.create({ prompt: "ab", stream: true }).withResponse();
  expect((await read(data)).length).toBeGreaterThan(1);
  expect([response.status, response.headers.get("content-type")]).toEqual([200, "text/event-stream"]);
  const events = await client.create({ prompt: "ab", stream: true }).asResponse();
  expect(await events.text()).toMatch(/^data: \{.*\n\ndata: \[DONE\]\n\n$/s);
  const whole = await client.create({ prompt: "ab" }).asResponse();
  expect(await whole.json()).toMatchObject({ object: "text_completion" });
});

const completionsUrl = "https://any.example/v1/completions";
const post = (body: string, signal: AbortSignal | null = null) => ({ method: "POST", body, signal });
const streaming = '{"prompt":"ab","stream":true}';

it("completionsFetch answers like a server: with a result, or a stream of events", async () => {
  const { fetch } = fakeModel();
  const whole = await fetch(completionsUrl, post(JSON.stringify({ prompt: "ab", model: "mine" })));
  expect(await whole.json()).toMatchObject({ object: "text_completion", model: "mine" });
  const stream = await fetch(completionsUrl, post(streaming));
  expect(stream.headers.get("content-type")).toBe("text/event-stream");
  expect(await stream.text()).toMatch(/^data: \{"id":"cmpl-.*\n\ndata: \[DONE\]\n\n$/s);
});

it("completionsFetch lists one model, for clients that choose from the list", async () => {
  const list = await fakeModel().fetch("https://any.example/v1/models");
  expect(await list.json()).toMatchObject({ object: "list", data: [{ id: "gpt2", object: "model" }] });
});

it.each([
  [completionsUrl, post("{"), 400, "the request's body is not JSON"],
  [completionsUrl, post('{"best_of":-1}'), 400, "best_of"],
  [completionsUrl, post('{"stream_options":"yes"}'), 400, 'stream_options is "yes", expected an object'],
  ["https://any.example/v1/chat/completions", post("{}"), 404, "address POST /v1/chat/completions"],
  [completionsUrl, {}, 404, "unknown address GET /v1/completions"],
])("completionsFetch answers %s with %o by the error %i %s", async (url, init, status, message) => {
  const response = await fakeModel().fetch(url, init);
  expect(response.status).toBe(status);
  const error = { message: expect.stringContaining(message) as string };
  expect(await response.json()).toMatchObject({ error });
});

const bodies = ['{"prompt":"ab"}', streaming, '{"prompt":"ab","stream":true,"echo":true}'];
it.each(bodies)("a prompt that does not fit gets status 400, which no client repeats: %s", async (body) => {
  const { fetch, model } = fakeModel();
  const tooLong = new CapacityError("capacity", "too long");
  model.complete.mockRejectedValue(tooLong);
  model.generate.mockImplementation(() => {
    throw tooLong;
  });
  const response = await fetch(completionsUrl, post(body));
  expect(response.status).toBe(400);
  const error = { message: "too long", type: "invalid_request_error", code: "context_length_exceeded" };
  expect(await response.json()).toMatchObject({ error });
});

it("completionsFetch rejects when it is aborted before it begins, or before the first chunk", async () => {
  const { fetch, model } = fakeModel();
  const aborted = fetch(completionsUrl, post('{"prompt":"ab"}', AbortSignal.abort()));
  await expect(aborted).rejects.toThrow(/abort/);
  const stopped = new AbortController();
  model.generate.mockImplementation((_prompt, { signal }) => {
    stopped.abort();
    throw signal?.reason as Error;
  });
  await expect(fetch(completionsUrl, post(streaming, stopped.signal))).rejects.toThrow(/abort/);
});

it("an aborted answer is an error also after a garbage collection: a cut text must not pass as complete", async () => {
  const { fetch } = fakeModel();
  const stopped = new AbortController();
  const reader = (await fetch(completionsUrl, post(streaming, stopped.signal))).body?.getReader();
  await reader?.read();
  for (let i = 0; i < 10; ++i) {
    (globalThis as unknown as { gc: () => void }).gc(); // tests run with --expose-gc
    await new Promise((later) => setTimeout(later));
  }
  stopped.abort();
  const rest = async () => {
    while (!(await reader?.read())?.done);
  };
  await expect(rest()).rejects.toThrow(/abort/);
});
