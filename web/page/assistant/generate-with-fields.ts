// Continues a text with the two fields, however long it grows: whenever the window is full, the context is composed again.
import type { GenerateCall, GenerateSummary, Model, Token } from "../../src/client/index.js";
import type { ContextFields } from "../state/context-fields.js";
import { compose } from "./compose.js";
import { untilStop } from "./until-stop.js";

/** Replaces ignored end-of-text tokens by the start of a paragraph. `text` is what `tokens` continue. */
async function* inParagraphs(
  tokens: AsyncIterable<Token>,
  text: string,
  end: number | null,
): AsyncGenerator<Token, void, void> {
  let line = text.slice(-2);
  for await (const token of tokens) {
    const isBegun = line === "" || line === "\n\n";
    const shown = token.id !== end ? token.text : isBegun ? "" : "\n\n";
    line = (line + shown).slice(-2);
    yield { ...token, text: shown };
  }
}

/** `text` with one space at its end in place of several, after which models write numbers or code. */
export const withOneSpace = (text: string): string => text.replace(/(?<=\S) {2,}$/, " ");

/** Continues `text` as model.generate does, with the fields if there are any, and without end-of-text tokens in it. */
export function continueWith(
  model: Model,
  text: string,
  fields: ContextFields | undefined,
  call: GenerateCall,
): AsyncIterable<Token> {
  const prompt = withOneSpace(text);
  const tokens = fields ? generateWithFields(model, prompt, fields, call) : model.generate(prompt, call);
  return call.ignoreEos ? inParagraphs(tokens, text, model.info.config.eosTokenId) : tokens;
}

/** The seed `turns` after `seed`; after the largest one comes 0. */
function seedAfter(seed: number, turns: number): number {
  const left = Number.MAX_SAFE_INTEGER - seed;
  return turns <= left ? seed + turns : turns - left - 1;
}

/** Calls the model once for each window, with the next seed. Calls `onSummary` after each call. */
async function* writeWindows(
  model: Model,
  text: string,
  fields: ContextFields,
  { onPrompt, ...call }: GenerateCall & { onSummary: (summary: GenerateSummary) => void },
): AsyncGenerator<Token, void, void> {
  let written = "";
  let left = call.maxNewTokens ?? model.info.defaults.maxNewTokens;
  for (let turn = 0; ; ++turn) {
    const context = await compose(model, text + written, fields, call.signal ?? undefined);
    let room = model.info.config.nPositions - context.tokens;
    const ends: GenerateSummary[] = [];
    const run = model.generate(context.prompt, {
      ...call,
      maxNewTokens: Math.min(left, room), // a call that ends by itself also returns the text that it held back for a stop string
      ...(call.seed != null && { seed: seedAfter(Number(call.seed), turn) }),
      onPrompt: turn === 0 ? onPrompt : undefined,
      onSummary: (summary) => ends.push(summary),
    });
    for await (const token of run) {
      if (room === 0) break; // tokens that heal the prompt are not counted as new
      room -= 1;
      if (token.healed !== "all") left -= 1;
      // A character that the window cuts is written again in the next one.
      const shown = room === 0 && left > 0 ? token.text.replace(/\ufffd+$/, "") : token.text;
      written += shown;
      yield { ...token, text: shown };
    }
    const [end] = ends;
    if (end) call.onSummary({ ...end, droppedTokens: context.leftOut });
    if (end && (left === 0 || end.finishReason !== "length")) return;
  }
}

/**
 * Continues `text` as model.generate does, with the fields. The model always reads both, and a stop string also counts where two
 * windows write it.
 */
export async function* generateWithFields(
  model: Model,
  text: string,
  fields: ContextFields,
  { onSummary, ...call }: GenerateCall,
): AsyncGenerator<Token, void, void> {
  const ends: GenerateSummary[] = [];
  const tokens = writeWindows(model, text, fields, { ...call, onSummary: (end) => ends.push(end) });
  const isStopped = yield* untilStop(tokens, [call.stop ?? []].flat());
  const end = ends.at(-1);
  if (end) onSummary?.(isStopped ? { ...end, finishReason: "stop", finishReasons: ["stop"] } : end);
}
