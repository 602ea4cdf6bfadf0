// Inspects the model. It is loaded separately, because few pages use it.
import { Gpt2Error } from "../shared/errors.js";
import type { InspectRequest } from "../shared/protocol.js";
import { readCount } from "../shared/refuse.js";
import type { Captured, Inspection, ModelConfig, PromptProgress, TokenLogprob } from "../shared/types.js";
import { readHooks, type HookRequest, type Hooks } from "./changes.js";
import type { Engine, Output } from "./engine.js";
import { yieldToMessages } from "./yield-to-messages.js";

const usualTop = 5;
const mostTop = 100;

/**
 * From this length on, a generation reads the tokens: its batches are larger than a prefill's, which lets other requests
 * run.
 */
const longText = 64;

/** Computes all of `ids` except the last, unless they are cached. */
async function readAll(
  engine: Engine,
  ids: readonly number[],
  hooks: Hooks | undefined,
  signal: AbortSignal,
  tell: (progress: PromptProgress) => void,
): Promise<void> {
  const ahead = ids.length - 1;
  const go = async (
    first: Output,
    isRead: (step: Output) => boolean,
    call: "_gpt2_step" | "_gpt2_prefill_step",
  ) => {
    for (let step = first; !isRead(step); step = engine.step(call)) {
      tell({ done: step.done, total: ids.length });
      await yieldToMessages();
      signal.throwIfAborted();
    }
  };
  const begin = () => {
    engine.start("_gpt2_generate", ids, { maxNewTokens: 0, n: 1, strict: false }, hooks?.numbers);
    return engine.output();
  };
  let step = begin();
  if (ahead - step.done >= longText && !hooks?.captures.length) {
    // Its token is not used.
    const one = { maxNewTokens: 1, temperature: 0, n: 1, strict: false };
    engine.start("_gpt2_generate", ids.slice(0, ahead), one, hooks?.numbers);
    await go(engine.output(), ({ isDone }) => isDone, "_gpt2_step");
    step = begin();
  }
  await go(step, ({ done }) => done >= ahead, "_gpt2_prefill_step");
}

/** What the last inspection has captured for `hooks`. */
function capturedOf(engine: Engine, { captures }: Hooks): Record<string, Captured> {
  const sizes = captures.map(({ shape }) => shape.reduce((product, length) => product * length, 1));
  const values = engine.captured(sizes.reduce((sum, size) => sum + size, 0));
  let end = 0;
  return Object.fromEntries(
    captures.map(({ name, shape }, place) => {
      const start = end;
      end += sizes[place] ?? 0;
      return [name, { data: values.slice(start, end), shape }];
    }),
  );
}

/**
 * The hooks of a request for a text. `idsOf` returns its tokens, for changes that set the mean: the text must fit the context.
 */
export async function hooksOf(
  engine: Engine,
  config: ModelConfig,
  request: HookRequest,
  idsOf: () => readonly number[],
  signal: AbortSignal,
  tokens = 0,
): Promise<Hooks | undefined> {
  return readHooks(request, config, tokens, async (hooksFor) => {
    const ids = idsOf();
    const { length } = ids;
    if (length === 0 || length > config.nPositions)
      throw new Gpt2Error(
        "capacity",
        `a mean needs a text of 1 to ${config.nPositions} tokens, but it has ${length}`,
      );
    const hooks = hooksFor(length);
    await readAll(engine, ids, hooks, signal, () => {});
    engine.inspect(0, config.nLayer * config.nHead * length);
    return capturedOf(engine, hooks);
  });
}

export async function inspect(
  engine: Engine,
  config: ModelConfig,
  { prompt, ...wanted }: InspectRequest,
  signal: AbortSignal,
  tell: (progress: PromptProgress) => void,
): Promise<Inspection> {
  const { nLayer, nHead, nPositions } = config;
  const ids = typeof prompt === "string" ? engine.tokenize(prompt, { isPrompt: true }) : prompt;
  if (ids.length === 0) throw new Gpt2Error("invalid-argument", "the text is empty");
  const position = readCount("position", wanted.position, 0, ids.length - 1) ?? ids.length - 1;
  const layer = readCount("layer", wanted.layer, 0, nLayer - 1) ?? nLayer - 1;
  const top = readCount("top", wanted.top, 0, mostTop) ?? usualTop;
  const head = readCount("head", wanted.head, 0, nHead - 1);
  const count = position + 1;
  if (count > nPositions) {
    throw new Gpt2Error(
      "capacity",
      `the position is outside the context: token ${position} of the text, but the context holds ${nPositions} tokens`,
    );
  }
  const prefix = ids.slice(0, count);
  const hooks = await hooksOf(engine, config, wanted, () => prefix, signal, count);
  await readAll(engine, prefix, hooks, signal, tell);
  const { tokens, attention: weights } = engine.inspect(top, nLayer * nHead * count);
  const [first, heads] = head === undefined ? [0, nHead] : [head, 1];
  const layers = Array.from({ length: nLayer }, (_, each) => {
    const begin = (each * nHead + first) * count;
    return weights.slice(begin, begin + heads * count);
  });
  const guesses = Array.from({ length: nLayer + 1 }, (): TokenLogprob[] => []);
  for (const { index, rank: _, ...guess } of tokens) guesses[index]?.push(guess);
  return {
    ids: [...prefix],
    layer,
    guesses,
    heads,
    layers,
    attention: layers[layer] ?? new Float32Array(),
    captured: hooks ? capturedOf(engine, hooks) : {},
    plainAttention: hooks?.plainAttention ?? [],
  };
}
