// Runs in the tab of tab.mjs: asks its host for tasks, performs them, and sends their results.
import { startReaders } from "./readers.mjs";

const at = (path) => new URL(path, location.href).href;
/** Reads and writes with what was loaded last: peer({ ids, text }, new tokens) gives tokens per second, { prefill, decode }. */
let peer = async (_prompt, _tokens) => ({});

async function loadWllama({ threads }) {
  const { Wllama } = await import(at("/peers/@wllama/wllama/esm/index.js"));
  const code = { default: at("/peers/@wllama/wllama/esm/wasm/wllama.wasm") };
  const wllama = new Wllama(code, { suppressNativeLog: true });
  const blob = await (await fetch("/model")).blob();
  await wllama.loadModel([blob], { n_ctx: 1024, n_threads: threads, n_gpu_layers: 0, warmup: false });
  const sampling = { temperature: 0.8, top_k: 40, top_p: 0.95, seed: 1, ignore_eos: true };
  peer = async ({ text }, tokens) => {
    const options = { prompt: text, max_tokens: tokens, ...sampling, cache_prompt: false };
    const { timings } = await wllama.createCompletion(options);
    return { prefill: timings.prompt_per_second, decode: timings.predicted_per_second };
  };
}

async function loadTransformers({ threads }) {
  const { AutoModelForCausalLM, Tensor, env } = await import(
    at("/peers/@huggingface/transformers/dist/transformers.min.js")
  );
  Object.assign(env, { allowRemoteModels: false, allowLocalModels: true, useBrowserCache: false });
  env.localModelPath = at("/");
  env.backends.onnx.wasm.wasmPaths = at("/peers/onnxruntime-web/dist/");
  env.backends.onnx.wasm.numThreads = threads;
  const gpt2 = await AutoModelForCausalLM.from_pretrained("model", { dtype: "q8", device: "wasm" });
  peer = async ({ ids }, tokens) => {
    const times = [];
    const start = performance.now();
    await gpt2.generate({
      input_ids: new Tensor("int64", BigInt64Array.from(ids.map(BigInt)), [1, ids.length]),
      attention_mask: new Tensor("int64", new BigInt64Array(ids.length).fill(1n), [1, ids.length]),
      max_new_tokens: tokens,
      min_new_tokens: tokens,
      do_sample: false, // its sampling would only add to the time
      streamer: { put: () => times.push(performance.now()), end() {} },
    });
    const [, first, ...rest] = times; // the first call is for the prompt itself
    const decode = rest.length > 0 ? (rest.length * 1000) / (rest.at(-1) - first) : 0;
    return { prefill: (ids.length * 1000) / (first - start), decode };
  };
}

/** Each run is followed by one that only reads memory with as many threads. `share` is decoding's part of that speed. */
async function loadOurs({ variant, threads, lookup = false, n = 1 }) {
  const { loadModel } = await import(at("/gpt2.js"));
  const start = performance.now();
  const gpt2 = await loadModel("/model/", { variant, threads });
  const seconds = (performance.now() - start) / 1e3;
  const { config, weightBytes, memoryBytes, kv } = gpt2.info;
  const { nEmbd, nLayer, nHead, nPositions, vocabSize } = config;
  // A step reads all weights except the table of positions, and the keys and values of the context. In 8 bits those take
  // a byte each, and a float of scale per head.
  const bytesAt = (context) =>
    weightBytes -
    4 * nPositions * nEmbd +
    2 * nLayer * context * (kv === "q8" ? nEmbd + 4 * nHead : 4 * nEmbd);
  const read = await startReaders(threads, bytesAt(64));
  peer = async ({ ids }, maxNewTokens) => {
    const prompt = ids.map((id) => id % (vocabSize - 1));
    const { timings } = await gpt2.complete(prompt, { maxNewTokens, ignoreEos: true, seed: 1, lookup, n });
    const floor = (await read()) / bytesAt(ids.length + maxNewTokens / 2); // steps per second
    const { promptTokensPerSecond: prefill, decodedTokensPerSecond: decode } = timings;
    return { prefill, decode, share: decode / n / floor };
  };
  const megabytes = { "weights MB": weightBytes / 1e6, "memory MB": memoryBytes / 1e6 };
  return { context: nPositions, "load s": seconds, ...megabytes };
}

/** Loads the model, and generates the first token after a prompt of 64. An `early` load has the prompt from its start. */
async function visit({ early, options }) {
  const prompt = Array.from({ length: 64 }, (_, i) => (i * 7919) % 4000);
  const start = performance.now();
  const { loadModel } = await import(at("/gpt2.js"));
  const model = await loadModel("/model/", { ...options, ...(early && { prompt }) });
  const readyMs = performance.now() - start;
  const firstToken = async (salt) => {
    const own = prompt.map((id) => (id + salt) % 4000); // no token of it is in the KV cache
    const { timings } = await model.complete(own, { maxNewTokens: 1, ignoreEos: true, seed: 1 });
    return timings.firstTokenMs;
  };
  const coldMs = await firstToken(0);
  const ms = performance.now() - start;
  const warm = [];
  for (let salt = 1; salt <= 15; ++salt) warm.push(await firstToken(salt));
  const warmMs = warm.slice(-5).toSorted((a, b) => a - b)[2];
  return { ms, readyMs, coldMs, warmMs };
}

const tasks = {
  loadWllama,
  loadTransformers,
  loadOurs,
  visit,
  run: ({ prompt, tokens }) => peer(prompt, tokens),
};
for (let answer = {}; ;) {
  const response = await fetch("/next", { method: "POST", body: JSON.stringify(answer) });
  const { name, argument } = await response.json();
  answer = await tasks[name](argument).then(
    (result) => ({ result: result ?? {} }),
    (error) => ({ error: String(error) }),
  );
}
