// Composes the prompt that the model continues: Always remember, then as much of the text's end as fits. The note is inserted
// a few sentences before that end. Each of the two fields is on lines of its own.
import type { Model, TokenizedText } from "../../src/client/index.js";
import { phrase } from "../language/editor.js";
import type { ContextFields } from "../state/context-fields.js";
import { withSpecialTokens } from "./special-tokens.js";

/** Sentences between the note and the end of the text; a line that ends is a sentence, too. */
const sentencesAfterNote = 3;

/** The part of a model that composing a context needs. */
export type Composer = Pick<Model, "tokenize"> & {
  info: { config: { nPositions: number } };
};

export interface Context {
  /** The whole prompt. Without fields it is the whole text, and the engine uses the end that fits. */
  prompt: string;
  /** Tokens that the model reads. */
  tokens: number;
  /** Offset in the text of the first character that it reads. */
  from: number;
  /** Offset in the text of the note. */
  noteAt: number;
  /** How many tokens of the text are before `from`. */
  leftOut: number;
}

/** The offset of the note in `text`: before its last three sentences, an unfinished one included. */
export function placeOfNote(text: string): number {
  const begins = [0];
  for (const { 0: end, index } of text.matchAll(/[.!?…]["'”’»)\]]*\s+|\n\s*/g))
    if (index + end.length < text.length) begins.push(index + end.length);
  return begins.at(-sentencesAfterNote) ?? 0;
}

/** The end of a text as the model reads it with the fields. */
export function withFields(text: string, { remember, note }: ContextFields): string {
  const lines = (...all: string[]) => all.filter((each) => each !== "").map((each) => `${each}\n`);
  const at = note.trim() === "" ? 0 : placeOfNote(text);
  return [...lines(remember.trim(), text.slice(0, at).trimEnd(), note.trim()), text.slice(at)].join("");
}

/** How many tokens a full window of `capacity` drops at once, as in engine/generate/sequence.cc. */
const dropStepOf = (capacity: number) => capacity - Math.floor((capacity * 3) / 4);

/** How many of `count` tokens are dropped so that the rest fits `capacity`, as in engine/generate/prompt_tokens.cc. */
export function leftOutOf(count: number, capacity: number): number {
  if (count <= capacity) return 0;
  const step = dropStepOf(capacity);
  return Math.ceil((count + (step >> 3) - capacity) / step) * step;
}

/** Offset of the first whole character after the first `count` tokens. */
const offsetOf = ({ starts, ends }: TokenizedText, count: number, length: number): number =>
  count === 0 ? 0 : Math.max(ends[count - 1] ?? length, starts[count] ?? length);

/** Composes what the model reads of `text` and of the fields. Throws if the fields leave no room for the text. */
export async function compose(
  model: Composer,
  text: string,
  fields: ContextFields | undefined,
  signal?: AbortSignal,
): Promise<Context> {
  const { nPositions } = model.info.config;
  const tokenize = async (some: string): Promise<TokenizedText> =>
    some === ""
      ? { ids: [], starts: [], ends: [] }
      : model.tokenize(some, { ...withSpecialTokens, places: true, signal });
  const [cut, ownCut] = await Promise.all([tokenize(text), tokenize(fields ? withFields("", fields) : "")]);
  const count = cut.ids.length;
  const own = ownCut.ids.length;
  if (!fields) {
    const leftOut = leftOutOf(count, nPositions);
    const from = offsetOf(cut, leftOut, text.length);
    return { prompt: text, tokens: count - leftOut, from, noteAt: from, leftOut };
  }
  const most = nPositions >> 1;
  if (own > most) throw new Error(phrase("fieldsTooLong", { count: own, most }));
  // Leaves room for what the model writes. Once that is full, the context must be composed again, which takes time.
  const capacity = nPositions - (nPositions >> 3);
  const room = capacity - own;
  for (let leftOut = leftOutOf(count, room); ; leftOut += dropStepOf(room)) {
    const rest = text.slice(offsetOf(cut, leftOut, text.length));
    const end = leftOut > 0 ? rest.trimStart() : rest; // in the prompt it starts a line
    const from = text.length - end.length;
    const prompt = withFields(end, fields);
    const { length: tokens } = (await tokenize(prompt)).ids;
    // The end of the text may be split into other tokens than in the whole text, and into more of them.
    if (tokens <= capacity || end === "")
      return { prompt, tokens, from, noteAt: from + placeOfNote(end), leftOut };
  }
}

/** What a model is given for `text`. */
export const promptOf = async (
  model: Composer,
  text: string,
  fields: ContextFields | undefined,
  signal: AbortSignal,
): Promise<string> => (fields ? (await compose(model, text, fields, signal)).prompt : text);
