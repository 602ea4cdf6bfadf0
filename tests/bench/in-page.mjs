// Functions that run inside the page. Each is sent there as text, so it can use nothing else of this file. Each returns
// tokens per second; the caller decides what it runs, and how long.

/** Each function loads a peer as `globalThis.peer`: peer({ids, text}, new tokens) gives {prefill, decode}. */
export async function loadWllama({ model, threads }) {
  const { Wllama } = await import(new URL("peers/@wllama/wllama/esm/index.js", location.href).href);
  const wllama = new Wllama(
    { default: new URL("peers/@wllama/wllama/esm/wasm/wllama.wasm", location.href).href },
    { suppressNativeLog: true },
  );
  const blob = await (await fetch(`bench/${model}`)).blob();
  await wllama.loadModel([blob], { n_ctx: 1024, n_threads: threads, n_gpu_layers: 0, warmup: false });
  globalThis.peer = async ({ text }, tokens) => {
    const { timings } = await wllama.createCompletion({
      prompt: text,
      max_tokens: tokens,
      temperature: 0.8,
      top_k: 40,
      top_p: 0.95,
      seed: 1,
      ignore_eos: true,
      cache_prompt: false,
    });
    return { prefill: timings.prompt_per_second, decode: timings.predicted_per_second };
  };
}

export async function loadTransformers({ model, threads }) {
  const base = new URL("peers/", location.href).href;
  const { AutoModelForCausalLM, Tensor, env } = await import(
    `${base}@huggingface/transformers/dist/transformers.min.js`
  );
  env.allowRemoteModels = false;
  env.allowLocalModels = true;
  env.useBrowserCache = false;
  env.localModelPath = new URL("bench/", location.href).href;
  env.backends.onnx.wasm.wasmPaths = `${base}onnxruntime-web/dist/`;
  env.backends.onnx.wasm.numThreads = threads;
  const gpt2 = await AutoModelForCausalLM.from_pretrained(model, { dtype: "q8", device: "wasm" });
  globalThis.peer = async ({ ids }, tokens) => {
    const shape = [1, ids.length];
    const input_ids = new Tensor("int64", BigInt64Array.from(ids.map(BigInt)), shape);
    const attention_mask = new Tensor("int64", new BigInt64Array(ids.length).fill(1n), shape);
    const times = [];
    const start = performance.now();
    await gpt2.generate({
      input_ids,
      attention_mask,
      max_new_tokens: tokens,
      min_new_tokens: tokens,
      do_sample: false, // its sampling would only add to the time
      streamer: { put: () => times.push(performance.now()), end() {} },
    });
    const [, first, ...rest] = times; // the first call is for the prompt itself
    return {
      prefill: (ids.length * 1000) / (first - start),
      decode: rest.length > 0 ? (rest.length * 1000) / (rest.at(-1) - first) : 0,
    };
  };
}

/** Each run is followed by one that only reads memory with as many threads. `share` is decoding's part of that speed. */
export async function loadOurs({ model, variant, threads, lookup = false, n = 1 }) {
  const { loadModel } = await import(new URL("gpt2.js", location.href).href);
  const start = performance.now();
  const gpt2 = await loadModel(`bench/${model}/`, { variant, threads });
  const seconds = (performance.now() - start) / 1e3;
  const { config, weightBytes, memoryBytes, kv } = gpt2.info;
  const { nEmbd, nLayer, nHead, nPositions, vocabSize } = config;
  // A step reads all weights except the table of positions, and the keys and values of the context. In 8 bits those take
  // a byte each, and a float of scale per head.
  const bytesAt = (context) =>
    weightBytes -
    4 * nPositions * nEmbd +
    2 * nLayer * context * (kv === "q8" ? nEmbd + 4 * nHead : 4 * nEmbd);
  const { Readers } = await import(new URL("floor/readers.js", location.href).href);
  const readers = await Readers.open(threads, bytesAt(64));
  globalThis.peer = async ({ ids }, maxNewTokens) => {
    const prompt = ids.map((id) => id % (vocabSize - 1));
    const options = { maxNewTokens, ignoreEos: true, seed: 1, lookup, n };
    const { timings } = await gpt2.complete(prompt, options);
    const floor = (await readers.read()) / bytesAt(ids.length + maxNewTokens / 2); // steps per second
    const { promptTokensPerSecond: prefill, decodedTokensPerSecond: decode } = timings;
    return { prefill, decode, share: decode / n / floor };
  };
  return {
    context: nPositions,
    "load s": seconds,
    "weights MB": weightBytes / 1e6,
    "memory MB": memoryBytes / 1e6,
  };
}

export async function runPeer({ prompt, tokens }) {
  return globalThis.peer(prompt, tokens);
}
