// What runs inside the page. Each function is sent there as text: it sees nothing of this file.

/**
 * Loads the model and measures it. With `floorUrl`, each decode run is followed by one that only reads as many bytes as a
 * step reads, with as many threads. So both see the same machine.
 */
export async function measureModel({ folder, variant, threads, floorUrl }) {
  const { loadModel } = await import(new URL("gpt2.js", location.href).href);
  const start = performance.now();
  const model = await loadModel(folder, { variant, threads });
  const loadMs = performance.now() - start;
  const { nEmbd, nLayer, nHead, nPositions, vocabSize } = model.info.config;
  let salt = 0;
  const prompt = (length) => (
    salt++,
    Array.from({ length }, (_, i) => (i * 7919 + salt * 104729) % (vocabSize - 1))
  );
  const run = (tokens, maxNewTokens, options = {}) =>
    model.complete(typeof tokens === "number" ? prompt(tokens) : tokens, {
      maxNewTokens,
      ignoreEos: true,
      seed: 1,
      lookup: false,
      ...options,
    });
  const firstTokenColdMs = loadMs + (await run(64, 1)).timings.firstTokenMs;
  await run(16, 32); // by now the browser has compiled the hot code for good
  const median = (values) => values.toSorted((a, b) => a - b)[values.length >> 1];
  const rounds = async (count, measure) => {
    const values = [];
    for (let i = 0; i < count; ++i) values.push(await measure());
    return values;
  };

  let floor;
  if (floorUrl) {
    const { default: create } = await import(new URL(floorUrl, location.href).href);
    const module = await create();
    const handle = module._floor_create(threads, model.info.weightBytes + 64e6);
    floor = (bytes) => (
      module._floor_run(handle, bytes, 1),
      bytes / 1e3 / (module._floor_run(handle, bytes, 8) / 8)
    );
  }
  // A step reads all weights except the table of positions, and the keys and values of the context. In 8 bits those take
  // a byte each, and a float of scale per head.
  const cacheBytes = (context) =>
    2 * nLayer * context * (model.info.kv === "q8" ? nEmbd + 4 * nHead : 4 * nEmbd);
  const stepBytes = (context) => model.info.weightBytes - 4 * nPositions * nEmbd + cacheBytes(context);

  const result = { variant, threads, weights: model.info.weights, loadMs, firstTokenColdMs };
  result.firstTokenWarmMs = median(await rounds(3, async () => (await run(64, 1)).timings.firstTokenMs));
  for (const length of [64, 512].filter((length) => length < nPositions)) {
    const speed = async () => (await run(length, 1)).timings.promptTokensPerSecond;
    result[`prefill${length}`] = median(await rounds(3, speed));
  }
  for (const { context, tokens } of [
    { context: 64, tokens: 64 },
    { context: 900, tokens: 48 },
  ].filter(({ context, tokens }) => context + tokens <= nPositions)) {
    const bytes = stepBytes(context + tokens / 2);
    const pairs = await rounds(5, async () => {
      const decode = (await run(context, tokens)).timings.decodedTokensPerSecond;
      return { decode, floorMBs: floor?.(bytes) };
    });
    result[`decode${context}`] = median(pairs.map(({ decode }) => decode));
    if (!floor) continue;
    result[`floorMBs${context}`] = median(pairs.map(({ floorMBs }) => floorMBs));
    result[`shareOfFloor${context}`] = median(pairs.map((p) => (p.decode * bytes) / (p.floorMBs * 1e6)));
  }
  result.memoryBytes = model.info.memoryBytes;
  result.weightBytes = model.info.weightBytes;

  // What a step of several continuations takes beside that of one: all of them write as many tokens.
  const stepRatio = async (n) => {
    const speed = async (count) => (await run(64, 48, { n: count })).timings.decodedTokensPerSecond;
    return median(await rounds(5, async () => (n * (await speed(1))) / (await speed(n))));
  };
  result.threeAtOnce = await stepRatio(3);
  result.eightAtOnce = await stepRatio(8);
  await model.dispose();
  return result;
}

/** What a visitor of a large model notices: load, memory, first token of a prompt of 64, decoding after it. */
export async function measureSize({ folder, threads }) {
  const { loadModel } = await import(new URL("gpt2.js", location.href).href);
  const start = performance.now();
  const model = await loadModel(folder, { threads });
  const loadMs = performance.now() - start;
  const run = async (salt, maxNewTokens) =>
    (
      await model.complete(
        Array.from({ length: 64 }, (_, i) => (i * 7919 + salt * 104729) % 50000),
        { maxNewTokens, ignoreEos: true, seed: 1, lookup: false },
      )
    ).timings;
  await run(0, 16); // by now the browser has compiled the hot code for good
  const median = (values) => values.toSorted((a, b) => a - b)[values.length >> 1];
  const timings = [];
  for (let round = 1; round <= 5; ++round) timings.push(await run(round, 32));
  const { memoryBytes, weightBytes } = model.info;
  await model.dispose();
  return {
    loadMs,
    memoryBytes,
    weightBytes,
    firstTokenMs: median(timings.map((each) => each.firstTokenMs)),
    decode: median(timings.map((each) => each.decodedTokensPerSecond)),
  };
}

/** Decoding with lookup against without, by a model that repeats itself and by one that does not. */
export async function measureLookup({ folder, threads }) {
  const { loadModel } = await import(new URL("gpt2.js", location.href).href);
  const model = await loadModel(folder, { threads });
  const prompt = Array.from({ length: 64 }, (_, i) => (i * 7919) % 50000);
  const run = async (lookup) =>
    (await model.complete(prompt, { maxNewTokens: 160, ignoreEos: true, temperature: 0.8, seed: 1, lookup }))
      .timings;
  await run(true);
  const ratios = [];
  for (let i = 0; i < 7; ++i) {
    const plain = await run(false);
    ratios.push((await run(true)).decodedTokensPerSecond / plain.decodedTokensPerSecond);
  }
  const { acceptedTokens, decodedTokens } = await run(true);
  await model.dispose();
  return { speedup: ratios.toSorted((a, b) => a - b)[3], accepted: acceptedTokens / decodedTokens };
}

/** Fetches the same bytes in a worker and throws them away. */
export async function fetchAndDiscard(folder) {
  const source = `onmessage = async ({ data }) => {
    const start = performance.now();
    const { pieces } = await (await fetch(data + "weights.json")).json();
    for (const { path } of pieces) {
      const reader = (await fetch(data + path)).body.getReader();
      while (!(await reader.read()).done);
    }
    postMessage(performance.now() - start);
  }`;
  const worker = new Worker(URL.createObjectURL(new Blob([source])));
  const ms = await new Promise((done) => {
    worker.onmessage = ({ data }) => done(data);
    worker.postMessage(new URL(folder, location.href).href);
  });
  worker.terminate();
  return ms;
}
