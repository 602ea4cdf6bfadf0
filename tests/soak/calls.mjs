// Calls whose answer is known beforehand: every option that decides it is drawn, the seed included.

const openings = [
  "One day, a little girl named Lily found",
  "Once upon a time",
  "The dog",
  "naïve café \u{1f600} — 東京 \t\n  !!",
  "the cat sat on the mat and the cat sat on the mat and the cat sat on",
  "",
];

/** The models; the sizes are those of their config. */
export const models = {
  demo: { folder: "models/demo/", vocabSize: 4096, hasTokenizer: true },
  tiny: { folder: "models/tiny/", vocabSize: 160, hasTokenizer: false },
};

/** Far more tokens than either model's context. */
const longPrompt = 5000;

const ids = (random, model, length) =>
  random.list(length, () => random.whole(0, models[model].vocabSize - 2));

function prompt(random, model) {
  if (random.chance(0.15)) return ids(random, model, longPrompt);
  if (!models[model].hasTokenizer || random.chance(0.3)) return ids(random, model, random.whole(1, 60));
  return random.pick(openings) || "x".repeat(random.whole(1, 900));
}

function generateCall(random, model) {
  const options = {
    maxNewTokens: random.pick([1, 7, 30, 90, 320]),
    temperature: random.pick([0, 0.7, 1, 1.5]),
    topK: random.pick([0, 1, 40]),
    topP: random.pick([0.5, 0.95, 1]),
    minP: random.pick([0, 0, 0.05]),
    repetitionPenalty: random.pick([1, 1, 1.3]),
    n: random.pick([1, 1, 1, 2, 5]),
    seed: random.whole(0, 1e9),
    lookup: random.chance(0.7),
    ignoreEos: random.chance(0.5),
    logprobs: random.pick([0, 0, 3]),
  };
  if (models[model].hasTokenizer && random.chance(0.2)) options.stop = [" the", "."];
  return { verb: "generate", prompt: prompt(random, model), options };
}

/** One call of the model `model`. */
export function makeCall(random, model) {
  const kind = random.whole(0, 9);
  if (kind <= 6) return { model, ...generateCall(random, model) };
  if (kind <= 7) {
    // The demo model takes seconds to score as much as a tiny one scores at once.
    const most = model === "tiny" ? longPrompt : 1200;
    return { model, verb: "score", prompt: prompt(random, model).slice(0, most) };
  }
  if (!models[model].hasTokenizer) return { model, ...generateCall(random, model) };
  return kind === 8
    ? { model, verb: "tokenize", text: random.pick(openings).repeat(random.whole(1, 200)) }
    : { model, verb: "detokenize", ids: ids(random, model, random.whole(0, longPrompt)) };
}
