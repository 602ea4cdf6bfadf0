// What runs inside the page for `npm run bench:track`. The function is sent there as text: it sees nothing of this file.

/**
 * The best of `turns` counts. It counts multiply-adds of the scalar loop, tokens of the model at `folder`, and bytes that
 * as many threads read, each a second. The last is measured only if decoding waits for memory. All are measured in turn,
 * so that they see the same machine.
 */
export async function measureTracked({ folder, threads, floorUrl, scalarLoop, roundSize, turns, salt }) {
  const { loadModel } = await import(new URL("gpt2.js", location.href).href);
  const model = await loadModel(folder, { threads });
  const { nEmbd, nLayer, nHead, nPositions } = model.info.config;
  const { default: createFloor } = await import(new URL(floorUrl, location.href).href);
  const floor = await createFloor();
  const reader = floor._floor_create(threads, model.info.weightBytes + 64e6);
  const { instance } = await WebAssembly.instantiate(Uint8Array.from(scalarLoop));
  const { run } = /** @type {any} */ (instance.exports);

  const scalar = () => {
    const rounds = 20_000;
    const start = performance.now();
    run(rounds);
    return (1000 * rounds * roundSize) / (performance.now() - start);
  };
  let prompts = salt;
  const write = async (length, maxNewTokens) => {
    prompts += 1;
    const prompt = Array.from({ length }, (_, i) => (i * 7919 + prompts * 104729) % 50000);
    return (await model.complete(prompt, { maxNewTokens, ignoreEos: true, seed: 1, lookup: false })).timings;
  };
  // As measureModel has it: all weights but the table of positions, and keys and values in 8 bits.
  const stepBytes = (context) =>
    model.info.weightBytes - 4 * nPositions * nEmbd + 2 * nLayer * context * (nEmbd + 4 * nHead);
  const read = (bytes) => (8 * 1000 * bytes) / floor._floor_run(reader, bytes, 8);

  for (let i = 0; i < 4; ++i) await write(64, 32); // by now the browser has compiled the hot code for good
  scalar();
  read(stepBytes(96));
  const best = { scalar: 0, prefill512: 0, decode64: 0, decode900: 0, floor64: 0, floor900: 0 };
  const take = (name, value) => (best[name] = Math.max(best[name], value));
  for (let turn = 0; turn < turns; ++turn) {
    take("scalar", scalar());
    take("prefill512", (await write(512, 1)).promptTokensPerSecond);
    for (const { context, tokens } of [
      { context: 64, tokens: 64 },
      { context: 900, tokens: 48 },
    ]) {
      const bytes = stepBytes(context + tokens / 2);
      take(`decode${context}`, (await write(context, tokens)).decodedTokensPerSecond);
      take(`floor${context}`, read(bytes) / bytes);
    }
  }
  const { parameters, simd } = model.info;
  await model.dispose();
  const head = nEmbd * 50257;
  // Of a token: each weight once, but the tables, of which it takes a row; the head's for what is written alone.
  const written = parameters - nPositions * nEmbd;
  return { ...best, simd, multiplyAdds: { prefill: written - head, decode: written } };
}
