// Visitors, as they act in the page.
import type * as Gpt2 from "../../web/src/client/index.js";

export type Call = { model: "demo" | "tiny" } & (
  | { verb: "generate"; prompt: Gpt2.Prompt; options: Gpt2.GenerateOptions; isWhole: boolean }
  | { verb: "score"; prompt: Gpt2.Prompt }
  | { verb: "tokenize"; text: string }
  | { verb: "detokenize"; ids: number[] }
);
export type Action = { model: Call["model"]; load: Gpt2.LoadOptions } & (
  | { does: "ask"; requests: { call: Call; ms?: number | undefined }[] }
  | { does: "leave" | "stall" | "forget"; call: Call; tokens: number; ms?: number }
  | { does: "abortLoad"; ms: number }
  | { does: "dispose" | "drop" }
);
/** `tokens` are those that a loop has read, perhaps not all. */
export type Answer = { call: Call } & (
  { value: unknown } | { tokens: Gpt2.Token[]; end?: object | undefined }
);

/**
 * All visitors act at the same time, each with one action after the other. Returns the answers, and the errors. It reaches the page as
 * text, so it uses nothing else of this file.
 */
export async function act({ loadModel }: typeof Gpt2, visitors: Action[][]) {
  const hangMs = 180_000; // an action takes seconds, on a very busy machine a few minutes
  const page = globalThis as unknown as {
    held?: Map<string, Promise<Gpt2.Model>>;
    ended?: WeakSet<Gpt2.Model>;
  };
  const held = (page.held ??= new Map<string, Promise<Gpt2.Model>>());
  const ended = (page.ended ??= new WeakSet<Gpt2.Model>());
  const answers: Answer[] = [];
  const problems: string[] = [];
  const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

  const hold = (name: Call["model"], load: Gpt2.LoadOptions) => {
    const model = held.get(name) ?? loadModel(`models/${name}/`, load);
    held.set(name, model);
    return model;
  };
  const signalAfter = (ms: number | undefined) => {
    const controller = new AbortController();
    const reason = new Error("given up");
    if (ms !== undefined) setTimeout(() => controller.abort(reason), ms);
    return { signal: controller.signal, reason };
  };
  /** Reads a loop. `at` is called after each token, and returns whether to leave the loop. */
  const read = async (
    model: Gpt2.Model,
    call: Call,
    signal: AbortSignal | null,
    at: (read: number) => unknown,
  ) => {
    if (call.verb !== "generate") return;
    const tokens: Gpt2.Token[] = [];
    let end: object | undefined;
    const onSummary = ({ finishReasons, droppedTokens }: Gpt2.GenerateSummary) =>
      (end = { finishReasons, droppedTokens });
    try {
      for await (const token of model.generate(call.prompt, { ...call.options, signal, onSummary })) {
        tokens.push(token);
        if ((await at(tokens.length)) === true) break;
      }
    } finally {
      answers.push({ call, tokens, end }); // also what was read before an abort
    }
  };
  const ask = async (model: Gpt2.Model, call: Call, signal: AbortSignal) => {
    if (call.verb === "score") answers.push({ call, value: await model.score(call.prompt, { signal }) });
    if (call.verb === "tokenize") answers.push({ call, value: await model.tokenize(call.text, { signal }) });
    if (call.verb === "detokenize")
      answers.push({ call, value: await model.detokenize(call.ids, { signal }) });
    if (call.verb !== "generate") return;
    if (!call.isWhole) return read(model, call, signal, () => undefined);
    const whole = await model.complete(call.prompt, { ...call.options, signal });
    const { finishReasons, droppedTokens } = whole;
    const tokens = whole.continuations.flatMap((one) => one.tokens);
    answers.push({ call, tokens, end: { finishReasons, droppedTokens } });
  };
  /** Waits for `work`, which may fail because its visitor has given up, or because its model was disposed of. */
  const orEnded = async (work: Promise<unknown>, model: Gpt2.Model | undefined, reason?: Error) => {
    try {
      await work;
    } catch (error) {
      if (error === reason) return;
      if (model && ended.has(model) && (error as Gpt2.Gpt2Error).code === "disposed") return;
      throw error;
    }
  };
  const perform = async (action: Action) => {
    const { load } = action;
    if (action.does === "ask") {
      const all = action.requests.map(async ({ call, ms }) => {
        const model = await hold(call.model, load);
        const { signal, reason } = signalAfter(ms);
        await orEnded(ask(model, call, signal), model, reason);
      });
      await Promise.all(all);
    } else if (action.does === "abortLoad") {
      const { signal, reason } = signalAfter(action.ms);
      const loading = loadModel(`models/${action.model}/`, { ...load, signal });
      await orEnded(
        loading.then((model) => model.dispose()),
        undefined,
        reason,
      );
    } else if (action.does === "dispose" || action.does === "drop") {
      const model = await held.get(action.model);
      held.delete(action.model); // the next visitor loads another
      if (!model || action.does === "drop") return;
      ended.add(model);
      await model.dispose();
    } else {
      const model = await hold(action.model, load);
      const { does, call, tokens, ms = 0 } = action;
      const isThere = (count: number) => count === tokens;
      if (does === "leave") return orEnded(read(model, call, null, isThere), model);
      if (does === "stall")
        return orEnded(
          read(model, call, null, (count) => isThere(count) && pause(ms)),
          model,
        );
      if (call.verb !== "generate") return;
      const loop = model.generate(call.prompt, call.options); // which is neither continued nor ended
      for (let count = 0; count < tokens; ++count) await orEnded(loop.next(), model);
    }
  };
  const visit = async (actions: Action[]) => {
    for (const action of actions) {
      let timer: ReturnType<typeof setTimeout> | undefined;
      const late = new Promise((_, reject) => {
        timer = setTimeout(() => reject(new Error(`has not ended after ${hangMs / 1000} s`)), hangMs);
      });
      const failed = (error: unknown) =>
        problems.push(`${JSON.stringify(action).slice(0, 2000)}: ${String(error)}`);
      await Promise.race([perform(action), late]).catch(failed);
      clearTimeout(timer);
    }
  };
  await Promise.all(visitors.map(visit));
  return { answers, problems };
}
