// Checks the arguments of `showInside` and `update`: an error names the argument and its value.
import { readCallback, readOptions, readSignal, readTokenIds, type Fields } from "../shared/arguments.js";
import type { Change, ModelConfig } from "../client/index.js";
import { describeValue, readCount, refuse } from "../shared/refuse.js";
import type { HeadAttention, HeadPlace, InsideProgress, InsideToken } from "./types.js";
import { readLanguage, readWords, type InsideWords } from "./words.js";

const isElement = (value: unknown): value is Element => (Object(value) as Partial<Node>).nodeType === 1;

export const readElement = (name: string, value: unknown): Element =>
  isElement(value) ? value : refuse(`${name} is ${describeValue(value)}, expected an element of the page`);

const readIndex = (name: string, value: unknown): number =>
  readCount(name, value, 0) ?? refuse(`${name} is undefined, expected a whole number from 0 or more`);

function readHead(value: unknown): HeadPlace | undefined {
  if (value === undefined) return undefined;
  if (typeof value !== "object" || value === null || Array.isArray(value))
    return refuse(`head is ${describeValue(value)}, expected an object with layer and head`);
  const { layer, head } = value as Fields;
  return { layer: readIndex("head.layer", layer), head: readIndex("head.head", head) };
}

/** Refuses a head that a model of this size does not have. */
export function checkHead(
  { layer, head }: HeadPlace,
  { nLayer, nHead }: Pick<ModelConfig, "nLayer" | "nHead">,
): void {
  readCount("head.layer", layer, 0, nLayer - 1);
  readCount("head.head", head, 0, nHead - 1);
}

/** Checked options: those that are null are missing. */
interface ReadOptions {
  words: Partial<InsideWords>;
  language: string;
  head: HeadPlace | undefined;
  headingLevel: number;
  legend: Element | undefined;
  onHead: ((attention: HeadAttention) => void) | undefined;
  onChange: ((change: readonly Change[]) => void) | undefined;
}

export function readInsideOptions(value: unknown): ReadOptions {
  const names = ["words", "language", "head", "headingLevel", "legend", "onHead", "onChange"];
  const { words, language, head, headingLevel, legend, onHead, onChange } = readOptions(
    "showInside",
    value,
    names,
  );
  return {
    words: readWords(words),
    language: readLanguage(language),
    head: readHead(head),
    headingLevel: readCount("headingLevel", headingLevel, 1, 6) ?? 3,
    legend: legend === undefined ? undefined : readElement("legend", legend),
    onHead: readCallback("onHead", onHead),
    onChange: readCallback("onChange", onChange),
  };
}

function readModel(value: unknown): InsideToken["model"] {
  const { info, inspect, detokenize } = Object(value) as Fields;
  const isModel =
    typeof info === "object" &&
    info !== null &&
    typeof inspect === "function" &&
    typeof detokenize === "function";
  return isModel
    ? (value as InsideToken["model"])
    : refuse(`model is ${describeValue(value)}, expected a model of loadModel`);
}

function readTexts(value: unknown, count: number): readonly string[] | undefined {
  if (value === undefined) return undefined;
  if (!Array.isArray(value)) return refuse(`texts is ${describeValue(value)}, expected an array of texts`);
  if (value.length !== count)
    refuse(`texts has ${value.length} texts for ${count} ids, expected one for each id`);
  return value.map((text: unknown, index) =>
    typeof text === "string" ? text : refuse(`texts[${index}] is ${describeValue(text)}, expected text`),
  );
}

/** The worker checks the rest of each change. */
function readChange(value: unknown): readonly Change[] | undefined {
  if (value === undefined) return undefined;
  if (!Array.isArray(value)) return refuse(`change is ${describeValue(value)}, expected a list of changes`);
  return value.map((each: unknown, index) =>
    typeof (Object(each) as Partial<Change>).at === "string"
      ? (each as Change)
      : refuse(`change[${index}] is ${describeValue(each)}, expected a change with the name of a place`),
  );
}

/** A checked token to look at. */
export interface ReadToken {
  model: InsideToken["model"];
  ids: readonly number[];
  /** Index of the token in `ids`. */
  position: number;
  texts: readonly string[] | undefined;
  change: readonly Change[] | undefined;
  signal: AbortSignal | undefined;
  onProgress: ((progress: InsideProgress) => void) | undefined;
}

export function readToken(value: unknown): ReadToken {
  const names = ["model", "ids", "position", "texts", "change", "signal", "onProgress"];
  const fields = readOptions("update", value, names);
  const ids = readTokenIds("ids", fields.ids);
  const { length } = ids;
  if (length === 0) refuse("ids is empty, expected at least one token id");
  return {
    model: readModel(fields.model),
    ids,
    position: readCount("position", fields.position, 0, length - 1) ?? length - 1,
    texts: readTexts(fields.texts, length),
    change: readChange(fields.change),
    signal: readSignal(fields.signal),
    onProgress: readCallback("onProgress", fields.onProgress),
  };
}
