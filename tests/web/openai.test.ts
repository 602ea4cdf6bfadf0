// OpenAI's /v1/completions on top of a fake model.
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { describe, expect, it, vi } from "vitest";
import type { Completion, GenerateCall, Model, Token } from "../../web/src/client/index.js";
import { CapacityError } from "../../web/src/shared/errors.js";
import {
  completions,
  completionsFetch,
  type CompletionChunk,
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
  return {
    model,
    client: completions(model as unknown as Model),
    fetch: completionsFetch(model as unknown as Model),
  };
}
const call = (mock: ReturnType<typeof fakeModel>["model"]) => mock.complete.mock.calls[0]?.[1];

describe("completions.create", () => {
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
    expect(call(model)).toMatchObject({
      maxNewTokens: 16,
      temperature: 1,
      topP: 1,
      topK: 0,
      n: 1,
      strict: true,
    });
  });

  it("completions.create passes on its options, except null", async () => {
    const { client, model } = fakeModel();
    const stop = ["\n"];
    await client.create({
      max_tokens: 5,
      temperature: 0,
      top_p: 0.5,
      seed: 7,
      stop,
      user: "me",
      logit_bias: {},
    });
    expect(model.complete.mock.calls[0]?.[0]).toBe("");
    expect(call(model)).toMatchObject({ maxNewTokens: 5, temperature: 0, topP: 0.5, seed: 7, stop });
    await client.create({
      max_tokens: null,
      n: null,
      stop: null,
      frequency_penalty: 0,
      suffix: null,
      stream: null,
    });
    expect(model.complete.mock.calls[1]?.[1]).toMatchObject({ maxNewTokens: 16, n: 1 });
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

  it("completions.create returns the offsets of tokens, and the alternatives", async () => {
    const { client } = fakeModel();
    const { choices } = await client.create({ prompt: "ab", logprobs: 1 });
    expect(choices[0]?.logprobs).toEqual({
      tokens: [" b", " c"],
      token_logprobs: [-1, -1],
      top_logprobs: [
        { " z": -0.5, " b": -1 },
        { " z": -0.5, " c": -1 },
      ],
      text_offset: [2, 4],
    });
    const none = await client.create({ prompt: "ab", logprobs: 0 });
    expect(none.choices[0]?.logprobs?.top_logprobs).toBeNull();
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
    expect(choices[0]?.logprobs).toMatchObject({ tokens: [" b", " c"], text_offset: [2, 4] });
  });

  it("a token whose bytes join into a character after itself has its own text", async () => {
    const { client, model } = fakeModel([["\ufffd\ufffd"]]);
    const bytes = [0xbc, 0xe3, 0x83]; // the end and the beginning of a character
    model.detokenize = async (ids) => new TextDecoder().decode(Uint8Array.from(ids.flatMap(() => bytes)));
    const { choices } = await client.create({ prompt: "ab", logprobs: 0 });
    expect(choices[0]?.logprobs?.tokens).toEqual(["\ufffd\ufffd"]);
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

  it.each([
    [
      { frequency_penalty: 0.5 },
      "frequency_penalty is 0.5, but the engine has no such penalty; repetition_penalty is similar",
    ],
    [
      { logit_bias: { "50256": -100 } },
      "logit_bias is an object, but the engine cannot change the probability of single tokens",
    ],
    [{ suffix: "." }, 'suffix is ".", but GPT-2 only continues a text: it cannot use a text that follows'],
    [{ max_tokens: 1.5 }, "max_tokens is 1.5, expected a whole number from 0 to 16777216"],
    [{ top_p: 2 }, "top_p is 2, expected a number from 0 to 1"],
    [{ n: 3, best_of: 2 }, "best_of is 2, expected at least n, which is 3"],
    [
      { best_of: 2, stream: true },
      "best_of is 2: the best text is known only at the end, so it cannot be streamed",
    ],
    [{ echo: 1 }, "echo is 1, expected true or false"],
    [{ prompt: [] }, "prompt is an array, expected text, an array of token ids, or an array of these"],
    [{ prompt: ["a", 1] }, "prompt is an array, expected text, an array of token ids, or an array of these"],
    [{ stop: [1] }, "stop is an array, expected text or an array of texts"],
    [{ model: { name: "a" } }, "model is an object, expected a name"],
    [
      { messages: [] },
      'a completion request has the unknown member "messages", expected model, prompt, stop,',
    ],
    ["text", 'a completion request is "text", expected an object'],
  ])("completions.create refuses %j", async (request, message) => {
    const { client, model } = fakeModel();
    await expect(client.create(request as object)).rejects.toMatchObject({
      code: "invalid-argument",
      message: expect.stringContaining(message),
    });
    expect(model.complete).not.toHaveBeenCalled();
  });
});

describe("values that JSON cannot express", () => {
  const circular: Record<string, unknown> = {};
  circular.self = circular;
  it.each([
    [{ temperature: NaN }, "temperature is NaN, expected a number from 0 to 100"],
    [{ top_p: Infinity }, "top_p is Infinity, expected a number from 0 to 1"],
    [{ seed: 5n }, "seed is 5n, expected a whole number from 0 to 9007199254740991"],
    [{ prompt: [1n] }, "prompt is an array, expected text"],
    [{ model: circular }, "model is an object, expected a name"],
    [{ logit_bias: circular }, "logit_bias is an object, but the engine"],
    [{ stop: () => 1 }, "stop is a function, expected text"],
    [{ echo: Symbol("e") }, "echo is a symbol, expected true or false"],
    [{ suffix: "x".repeat(1e6) }, `suffix is "${"x".repeat(40)}…", but GPT-2`],
    [{ ["x".repeat(1e6)]: 1 }, `a completion request has the unknown member "${"x".repeat(40)}…"`],
  ])("a value that JSON cannot express is refused with a short message", async (request, message) => {
    const { client } = fakeModel();
    const error: unknown = await client.create(request as object).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({
      code: "invalid-argument",
      message: expect.stringContaining(message) as string,
    });
    expect((error as Error).message.length).toBeLessThan(500);
  });
});

describe("a stream", () => {
  const read = async (stream: AsyncIterable<CompletionChunk>) => {
    const chunks: CompletionChunk[] = [];
    for await (const chunk of stream) chunks.push(chunk);
    return chunks;
  };

  it("a stream gives each choice token by token, its end, and the usage if requested", async () => {
    const { client } = fakeModel();
    const request = {
      prompt: "ab",
      n: 2,
      echo: true,
      stream: true,
      stream_options: { include_usage: true },
    } as const;
    const chunks = await read(await client.create(request));
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
  });

  it("a stream has the offset of each token", async () => {
    const { client } = fakeModel();
    const chunks = await read(await client.create({ prompt: "ab", logprobs: 1, stream: true }));
    expect(chunks.slice(0, 2).map(({ choices }) => choices[0]?.logprobs?.text_offset)).toEqual([[2], [4]]);
  });

  it("a stream ends quietly when its controller or the caller's signal aborts it, as OpenAI's client does", async () => {
    const { client } = fakeModel();
    const stream = await client.create({ prompt: "ab", stream: true });
    stream.controller.abort();
    expect(await read(stream)).toEqual([]);
    const caller = new AbortController();
    const mine = await client.create({ prompt: "ab", stream: true }, { signal: caller.signal });
    for await (const { choices } of mine) {
      expect(choices).toHaveLength(1);
      caller.abort();
    }
    const early = client.create({ stream: true }, { signal: AbortSignal.abort() });
    await expect(early).rejects.toThrow(/abort/);
  });

  it("an aborted stream throws the abort's reason", async () => {
    const { client } = fakeModel();
    const stream = await client.create({ prompt: "ab", stream: true });
    stream.controller.abort(new Error("enough"));
    await expect(read(stream)).rejects.toThrow("enough");
  });

  it("a stream can be read twice after tee, and as lines of JSON", async () => {
    const { client } = fakeModel();
    const [one, two] = (await client.create({ prompt: "ab", stream: true })).tee();
    const chunks = await read(one);
    expect(chunks.length).toBeGreaterThan(1);
    expect(await read(two)).toEqual(chunks);
    const bytes = (await client.create({ prompt: "ab", stream: true })).toReadableStream();
    const lines = (await new Response(bytes).text()).trimEnd().split("\n");
    const textOf = (all: CompletionChunk[]) => all.map(({ choices }) => choices[0]?.text);
    expect(textOf(lines.map((line) => JSON.parse(line) as CompletionChunk))).toEqual(textOf(chunks));
  });

  it("leaving the loop stops a stream and aborts its controller", async () => {
    const { client } = fakeModel();
    const stream = await client.create({ prompt: "ab", stream: true });
    for await (const { choices } of stream) {
      expect(choices).toHaveLength(1);
      break;
    }
    expect(stream.controller.signal.aborted).toBe(true);
    const whole = await client.create({ prompt: "ab", stream: true });
    await read(whole);
    expect(whole.controller.signal.aborted).toBe(false);
  });

  it("reading a stream twice, or beside its tee, is an error that names tee", async () => {
    const { client } = fakeModel();
    const stream = await client.create({ prompt: "ab", stream: true });
    await read(stream);
    await expect(read(stream)).rejects.toThrow("use `.tee()`");
    const other = await client.create({ prompt: "ab", stream: true });
    const [one] = other.tee();
    expect((await read(one)).length).toBeGreaterThan(1);
    await expect(read(other)).rejects.toThrow("use `.tee()`");
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
});

describe("completionsFetch", () => {
  const post = (body: string, url = "https://any.example/v1/completions") =>
    [url, { method: "POST", body }] as const;

  it("completionsFetch answers like a server: with a result, a stream of events, or an error", async () => {
    const { fetch } = fakeModel();
    const whole = await fetch(...post(JSON.stringify({ prompt: "ab", model: "mine" })));
    expect(await whole.json()).toMatchObject({ object: "text_completion", model: "mine" });
    const stream = await fetch(...post(JSON.stringify({ prompt: "ab", stream: true })));
    expect(stream.headers.get("content-type")).toBe("text/event-stream");
    const events = (await stream.text()).split("\n\n");
    expect(events.at(-2)).toBe("data: [DONE]");
    expect(JSON.parse(events[0]?.replace("data: ", "") ?? "")).toMatchObject({ object: "text_completion" });
    for (const [request, status, message] of [
      [post("{"), 400, "the request's body is not JSON"],
      [post('{"best_of":-1}'), 400, "best_of"],
      [post('{"stream_options":"yes"}'), 400, 'stream_options is "yes", expected an object'],
      [
        post("{}", "https://any.example/v1/chat/completions"),
        404,
        "unknown address POST /v1/chat/completions",
      ],
      [["https://any.example/v1/completions", {}] as const, 404, "unknown address GET /v1/completions"],
    ] as const) {
      const response = await fetch(request[0], request[1]);
      expect(response.status).toBe(status);
      const { error } = (await response.json()) as { error: { message: string } };
      expect(error.message).toContain(message);
    }
  });

  it("a prompt that does not fit is answered with 400, so that clients do not repeat it", async () => {
    const { fetch, model } = fakeModel();
    model.complete.mockRejectedValue(new CapacityError("capacity", "too long"));
    const response = await fetch(...post('{"prompt":"ab"}'));
    expect(response.status).toBe(400);
    const error = { message: "too long", type: "invalid_request_error", code: "context_length_exceeded" };
    expect(await response.json()).toMatchObject({ error });
  });

  it.each(['{"prompt":"ab","stream":true}', '{"prompt":"ab","stream":true,"echo":true}'])(
    "a prompt that does not fit is answered with 400 also as a stream: %s",
    async (body) => {
      const { fetch, model } = fakeModel();
      model.generate.mockImplementation(() => {
        throw new CapacityError("capacity", "too long");
      });
      const response = await fetch(...post(body));
      expect(response.status).toBe(400);
      expect(await response.json()).toMatchObject({ error: { code: "context_length_exceeded" } });
    },
  );

  it("completionsFetch rejects when it is aborted before the first chunk of a stream", async () => {
    const { fetch, model } = fakeModel();
    const [url, init] = post('{"prompt":"ab","stream":true}');
    const stopped = new AbortController();
    model.generate.mockImplementation((_prompt, { signal }) => {
      stopped.abort();
      throw signal?.reason as Error;
    });
    await expect(fetch(url, { ...init, signal: stopped.signal })).rejects.toThrow(/abort/);
  });

  it("completionsFetch rejects when it is aborted", async () => {
    const { fetch } = fakeModel();
    const [url, init] = post('{"prompt":"ab"}');
    await expect(fetch(url, { ...init, signal: AbortSignal.abort() })).rejects.toThrow(/abort/);
    const stopped = new AbortController();
    const body = '{"prompt":"ab","stream":true}';
    const response = await fetch(url, { method: "POST", body, signal: stopped.signal });
    stopped.abort();
    await expect(response.text()).rejects.toThrow(/abort/); // a truncated text must not pass as complete
  });

  it("completionsFetch follows its caller's signal also after a garbage collection", async () => {
    const { fetch } = fakeModel();
    const stopped = new AbortController();
    const [url, init] = post('{"prompt":"ab","stream":true}');
    const reader = (await fetch(url, { ...init, signal: stopped.signal })).body?.getReader();
    await reader?.read();
    setFlagsFromString("--expose-gc");
    const collect = runInNewContext("gc") as () => void;
    for (let i = 0; i < 10; ++i) {
      collect();
      await new Promise((later) => setTimeout(later));
    }
    stopped.abort();
    const rest = async () => {
      while (!(await reader?.read())?.done);
    };
    await expect(rest()).rejects.toThrow(/abort/);
  });
});
