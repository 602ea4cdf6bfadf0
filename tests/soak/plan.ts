// What random visitors do: the actions of one round.
import type { Random } from "../compare/tokenizers/texts.mjs";
import type { Action, Call } from "./visitors.js";

const openings = [
  "One day, a little girl named Lily found",
  "Once upon a time",
  "naïve café \u{1f600} — 東京 \t\n  !!",
  "the cat sat on the mat and the cat sat on the mat and the cat sat on",
];
/** Far more tokens than a context has. The demo model takes seconds to score as much as the tiny one scores at once. */
const longPrompt = { demo: 1200, tiny: 5000 };
/** The ids that both models have. */
const ids = 159;
const loads = [
  {},
  { variant: "simd" },
  { variant: "simd-relaxed" },
  { variant: "threads", threads: 2 },
  { variant: "threads-relaxed", threads: 3 },
] as const;

/** A call whose answer is known beforehand: every option that decides it is drawn, the seed included. */
function makeCall({ next, below, pick }: Random): Call {
  const model = pick(["demo", "demo", "tiny"] as const);
  const hasTokenizer = model === "demo";
  const some = (length: number) => Array.from({ length }, () => below(ids));
  const text = hasTokenizer && next() < 0.6 ? pick(openings) : undefined;
  const prompt = next() < 0.15 ? some(longPrompt[model]) : (text ?? some(1 + below(60)));
  const kind = below(hasTokenizer ? 10 : 8);
  if (kind === 9) return { model, verb: "tokenize", text: pick(openings).repeat(1 + below(200)) };
  if (kind === 8) return { model, verb: "detokenize", ids: some(below(5000)) };
  if (kind === 7) return { model, verb: "score", prompt };
  const options = {
    maxNewTokens: pick([1, 7, 30, 90, 320]),
    temperature: pick([0, 0.7, 1, 1.5]),
    topK: pick([0, 1, 40]),
    topP: pick([0.5, 0.95, 1]),
    minP: pick([0, 0, 0.05]),
    repetitionPenalty: pick([1, 1, 1.3]),
    n: pick([1, 1, 1, 2, 5]),
    seed: below(1e9),
    lookup: next() < 0.7,
    ignoreEos: next() < 0.5,
    logprobs: pick([0, 0, 3]),
    stop: hasTokenizer ? pick([[], [], [" the", "."]]) : [],
  };
  return { model, verb: "generate", prompt, options, isWhole: next() < 0.5 };
}

function makeAction({ next, below, pick }: Random, calls: readonly Call[]): Action {
  const call = pick(calls);
  const base = { model: call.model, load: pick(loads) };
  const stream = pick(calls.filter(({ verb }) => verb === "generate"));
  const reads = { ...base, model: stream.model, call: stream, tokens: pick([1, 2, 20]) };
  const anyMs = () => pick([0, 1, 5, 30, 200, 500]);
  const requests = (length: number, aborted: number) =>
    Array.from({ length }, () => ({ call: pick(calls), ms: next() < aborted ? anyMs() : undefined }));
  const kind = below(100);
  if (kind < 25) return { ...base, does: "ask", requests: requests(1, 0) };
  if (kind < 45) return { ...base, does: "ask", requests: requests(1, 1) };
  if (kind < 53) return { ...base, does: "ask", requests: requests(20, 0.4) };
  if (kind < 65) return { ...reads, does: "leave" };
  if (kind < 75) return { ...reads, does: "stall", ms: below(600) };
  if (kind < 78) return { ...reads, does: "forget" };
  if (kind < 88) return { ...base, does: "abortLoad", ms: anyMs() };
  return { ...base, does: kind < 96 ? "dispose" : "drop" };
}

/** Lists of actions, one for each visitor. */
export function makeRound(random: Random): Action[][] {
  const calls = Array.from({ length: 8 }, () => makeCall(random));
  if (!calls.some(({ verb }) => verb === "generate")) return makeRound(random);
  return Array.from({ length: 3 }, () => Array.from({ length: 4 }, () => makeAction(random, calls)));
}
