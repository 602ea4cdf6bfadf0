// Runs in the tab of visits.mjs: requests a task from its host, performs it, and reports the result.

/** Downloads all files of the model, three at a time, and drops their bytes. */
async function fetchAlone() {
  const start = performance.now();
  const { pieces } = await (await fetch("/model/weights.json")).json();
  const names = ["config.json", "vocab.json", "merges.txt", ...pieces.map(({ path }) => path)];
  const lane = async () => {
    for (let name; (name = names.shift());) {
      const { body } = await fetch(`/model/${name}`);
      const reader = /** @type {ReadableStream<Uint8Array>} */ (body).getReader({ mode: "byob" });
      let memory = new ArrayBuffer(1 << 18);
      for (;;) {
        const { done, value } = await reader.read(new Uint8Array(memory));
        if (done) break;
        memory = value.buffer;
      }
    }
  };
  await Promise.all([lane(), lane(), lane()]);
  return { ms: performance.now() - start };
}

/** Loads a model, and generates the first token after a prompt of 64. An `early` load has the prompt from its start. */
async function load({ folder, early, options }) {
  const prompt = Array.from({ length: 64 }, (_, i) => (i * 7919) % 4000);
  const start = performance.now();
  const { loadModel } = await import(new URL("/gpt2.js", location.href).href);
  const model = await loadModel(folder, {
    ...options,
    ...(early && { prompt }),
  });
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
  return { ms, readyMs, coldMs, warmMs, weightBytes: model.info.weightBytes };
}

const tasks = { fetchAlone, load };
try {
  const { task, ...argument } = await (await fetch("/task")).json();
  const result = await tasks[task](argument);
  await fetch("/done", { method: "POST", body: JSON.stringify(result) });
} catch (error) {
  await fetch("/done", { method: "POST", body: JSON.stringify({ error: String(error) }) });
}
