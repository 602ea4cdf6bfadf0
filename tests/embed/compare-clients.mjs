// node compare-clients.mjs FOLDER: makes the same calls of OpenAI's client and of `completions(model)`, and prints the results:
// two lists of lines of JSON. tests/embed/clients.spec.ts compares them.
import { loadModel } from "gpt2-wasm";
import { completions, completionsFetch } from "gpt2-wasm/openai";
import OpenAI from "openai";
import { Stream } from "openai/streaming";

const model = await loadModel(process.argv[2]);
const request = { model: "gpt2", prompt: "Once upon a time", max_tokens: 12, temperature: 0 };
const streamed = { ...request, stream: true };

/** The text of a stream, to which `each` is applied after every chunk. */
async function read(stream, each = () => {}) {
  let text = "";
  let count = 0;
  for await (const { choices } of stream) {
    text += choices[0]?.text ?? "";
    each(++count);
  }
  return text;
}
const errorOf = (promise) =>
  promise.then(
    (value) => ["no error", value],
    ({ message }) => message.match(/\.tee\(\)|enough|abort/)?.[0] ?? message,
  );

const cases = {
  whole: async (client) => {
    const { choices, usage } = await client.create(request);
    return [choices, usage];
  },
  stream: async (client) => {
    const stream = await client.create(streamed);
    return [await read(stream), stream.controller.signal.aborted];
  },
  "aborted by its controller": async (client) => {
    const stream = await client.create(streamed);
    return read(stream, (count) => count === 3 && stream.controller.abort());
  },
  "aborted by its controller, with a reason": async (client) => {
    const stream = await client.create(streamed);
    stream.controller.abort(new Error("enough"));
    return errorOf(read(stream));
  },
  "aborted by a signal, with a reason": async (client) => {
    const mine = new AbortController();
    const stream = await client.create(streamed, { signal: mine.signal });
    return errorOf(read(stream, (count) => count === 3 && mine.abort(new Error("enough"))));
  },
  "aborted before": (client) => errorOf(client.create(streamed, { signal: AbortSignal.abort() })),
  left: async (client) => {
    const stream = await client.create(streamed);
    for await (const { object } of stream) if (object) break;
    return stream.controller.signal.aborted;
  },
  "read twice": async (client) => {
    const stream = await client.create(streamed);
    await read(stream);
    return errorOf(read(stream));
  },
  tee: async (client) => {
    const stream = await client.create(streamed);
    const [left, right] = stream.tee();
    return [await read(left), await read(right), await errorOf(read(stream))];
  },
  "tee, side by side": async (client) => {
    const [left, right] = (await client.create(streamed)).tee();
    return Promise.all([read(left), read(right)]);
  },
  toReadableStream: async (client) => {
    const stream = await client.create(streamed);
    return read(Stream.fromReadableStream(stream.toReadableStream(), new AbortController()));
  },
  "toReadableStream, cancelled": async (client) => {
    const stream = await client.create(streamed);
    const reader = stream.toReadableStream().getReader();
    await reader.read();
    await reader.cancel();
    return stream.controller.signal.aborted;
  },
  withResponse: async (client) => {
    const { data, response, request_id } = await client.create(streamed).withResponse();
    const type = response.headers.get("content-type");
    return [await read(data), response.status, type, request_id];
  },
  asResponse: async (client) => {
    const events = await (await client.create(streamed).asResponse()).text();
    const whole = await (await client.create(request).asResponse()).json();
    return [events.match(/"text":"[^"]*"/g), events.slice(-16), whole.choices, Object.keys(whole).sort()];
  },
  "an invalid request": (client) =>
    client.create({ ...request, n: -1 }).then(
      () => "no error",
      ({ message }) => message.includes("n is -1"),
    ),
};

const settings = { apiKey: "none", baseURL: "https://gpt2.invalid/v1", dangerouslyAllowBrowser: true };
const real = new OpenAI({ ...settings, fetch: completionsFetch(model) }).completions;
for (const client of [real, completions(model)]) {
  const results = {};
  for (const [name, run] of Object.entries(cases)) results[name] = await run(client);
  console.log(JSON.stringify(results));
}
await model.dispose();
