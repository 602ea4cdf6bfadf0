// Random visitors: what they do, and how they do it in the page.
import type * as Gpt2 from "../../web/src/client/index.js";
import type { Random } from "../compare/tokenizers/texts.mjs";

/** A request whose answer is known beforehand: every option that decides it is drawn, the seed included. */
export interface Call {
  model: "demo" | "tiny";
  verb: "generate" | "complete" | "score";
  prompt: Gpt2.Prompt;
  options: Gpt2.GenerateOptions;
}
export interface Action {
  does: "ask" | "abort" | "leave" | "stall" | "forget" | "abortLoad" | "dispose" | "drop";
  call: Call;
  load: Gpt2.LoadOptions;
  /** The token after which a visitor leaves or stalls. */
  tokens: number;
  /** Milliseconds until a visitor aborts, or goes on. */
  ms: number;
}
/** `tokens` are those that a loop has read. Without an `end`, the answer has more. */
export type Answer = { call: Call } & (
  { score: Gpt2.Score } | { tokens: Gpt2.Token[]; end?: object | undefined }
);

const openings = [
  "One day, a little girl named Lily found",
  "naïve café \u{1f600} — 東京 \t\n  !!",
  "the cat sat on the mat and the cat sat on the mat and the cat sat on",
];
/** Far more tokens than a context has. The demo model takes seconds to score as much as the tiny one scores at once. */
const longPrompt = { demo: 1200, tiny: 5000 };

function makeCall({ next, below, pick }: Random): Call {
  const model = pick(["demo", "demo", "tiny"] as const);
  const length = next() < 0.15 ? longPrompt[model] : 1 + below(60);
  const ids = Array.from({ length }, () => below(159)); // which both models have
  const hasText = model === "demo" && next() < 0.5;
  const options = {
    maxNewTokens: pick([1, 7, 30, 90, 320]),
    temperature: pick([0, 0.7, 1, 1.5]),
    topK: pick([0, 1, 40]),
    topP: pick([0.5, 0.95, 1]),
    minP: pick([0, 0, 0.05]),
    repetitionPenalty: pick([1, 1, 1.3]),
    frequencyPenalty: pick([0, 0, 0.7]),
    minNewTokens: pick([0, 0, 5]),
    n: pick([1, 1, 1, 2, 5]),
    seed: below(1e9),
    lookup: next() < 0.7,
    ignoreEos: next() < 0.5,
    logprobs: pick([0, 0, 3]),
    stop: hasText ? pick([[], [" the", "."]]) : [],
  };
  const verb = pick(["generate", "generate", "complete", "score"] as const);
  return { model, verb, prompt: hasText ? pick(openings) : ids, options };
}

const loads = [
  {},
  { variant: "simd" },
  { variant: "simd-relaxed" },
  { variant: "threads", threads: 2 },
  { variant: "threads-relaxed", threads: 3 },
] as const;
/** Each action as often as it is named: an ask becomes twenty at the same time every fourth time. */
const actions = "ask ask ask abort abort leave leave stall forget abortLoad dispose drop".split(" ");

/** The steps of each visitor. The actions of a step begin at the same time. */
export function makeRound(random: Random): Action[][][] {
  const { next, below, pick } = random;
  const calls = Array.from({ length: 8 }, () => makeCall(random));
  const readers = calls.map((call): Call => ({ ...call, verb: "generate" }));
  const action = (does: string): Action => ({
    does: does as Action["does"],
    call: pick(["leave", "stall", "forget"].includes(does) ? readers : calls),
    load: pick(loads),
    tokens: pick([1, 2, 20]),
    ms: pick([0, 1, 5, 30, 200, 500]),
  });
  const step = () => {
    const does = pick(actions);
    const isMany = does === "ask" && next() < 0.25;
    return isMany ? Array.from({ length: 20 }, () => action(pick(["ask", "abort"]))) : [action(does)];
  };
  return Array.from({ length: 3 }, () => Array.from({ length: 2 + below(4) }, step));
}

/** Plays a round. Returns the answers and the errors. It reaches the page as text, so it uses nothing else of this file. */
export async function act({ loadModel }: typeof Gpt2, visitors: Action[][][]) {
  const hangMs = 180_000; // an action takes seconds, on a very busy machine a few minutes
  const page = globalThis as { held?: Map<string, Promise<Gpt2.Model>>; ended?: WeakSet<Gpt2.Model> };
  const held = (page.held ??= new Map<string, Promise<Gpt2.Model>>());
  const ended = (page.ended ??= new WeakSet<Gpt2.Model>());
  const answers: Answer[] = [];
  const problems: string[] = [];

  const summarize = ({ finishReasons, droppedTokens }: Gpt2.GenerateSummary) => ({
    finishReasons,
    droppedTokens,
  });
  const perform = async ({ does, call, load, tokens: many, ms }: Action) => {
    const controller = new AbortController();
    const { signal } = controller;
    const reason = new Error("given up");
    if (does === "abort" || does === "abortLoad") setTimeout(() => controller.abort(reason), ms);
    const folder = `models/${call.model}/`;
    let model: Gpt2.Model | undefined;
    try {
      if (does === "abortLoad") return await (await loadModel(folder, { ...load, signal })).dispose();
      const loading = held.get(call.model) ?? loadModel(folder, load);
      held.set(call.model, loading);
      if (does === "dispose" || does === "drop") held.delete(call.model); // the next visitor loads another
      model = await loading;
      if (does === "dispose") ended.add(model);
      if (does === "dispose") return await model.dispose();
      if (does === "drop") return;
      const options = { ...call.options, signal };
      if (does === "forget") {
        const loop = model.generate(call.prompt, options);
        for (let read = 0; read < many; ++read) await loop.next();
        return; // the loop is neither continued nor ended
      }
      const isRead = does === "leave" || does === "stall";
      if (!isRead && call.verb === "score")
        return answers.push({ call, score: await model.score(call.prompt, { signal }) });
      if (!isRead && call.verb === "complete") {
        const whole = await model.complete(call.prompt, options);
        return answers.push({
          call,
          tokens: whole.continuations.flatMap(({ tokens }) => tokens),
          end: summarize(whole),
        });
      }
      const answer: Answer & { tokens: Gpt2.Token[] } = { call, tokens: [] };
      answers.push(answer); // also what is read before an abort
      const onSummary = (summary: Gpt2.GenerateSummary) => (answer.end = summarize(summary));
      for await (const token of model.generate(call.prompt, { ...options, onSummary })) {
        answer.tokens.push(token);
        if (answer.tokens.length !== many) continue;
        if (does === "leave") break;
        if (does === "stall") await new Promise((resolve) => setTimeout(resolve, ms));
      }
    } catch (error) {
      const isExpected =
        error === reason || (model && ended.has(model) && (error as Gpt2.Gpt2Error).code === "disposed");
      if (!isExpected) throw error;
    }
  };
  const visit = async (steps: Action[][]) => {
    for (const step of steps) {
      let timer: ReturnType<typeof setTimeout> | undefined;
      const late = new Promise((_, reject) => {
        timer = setTimeout(() => reject(new Error(`has not ended after ${hangMs / 1000} s`)), hangMs);
      });
      const all = Promise.all(step.map(perform));
      const note = (error: unknown) =>
        problems.push(`${String(error)}: ${JSON.stringify(step).slice(0, 2000)}`);
      await Promise.race([all, late]).catch(note);
      clearTimeout(timer);
    }
  };
  await Promise.all(visitors.map(visit));
  return { answers, problems };
}
