// All texts in one file, whose format docs/ describes. The parser refuses anything unknown, and names it.
import { mostAlternatives, parseAlternatives } from "../document/alternatives.js";
import { differenceOf } from "../document/difference.js";
import type { KeptText, Part } from "../document/kept-text.js";
import { areFields, parseFields } from "../document/parse-fields.js";
import { isOffset, parseParts } from "../document/parse-kept.js";
import { asLines } from "../document/pieces.js";
import { parseTree } from "../document/tree.js";
import { phrase } from "../language/library.js";
import { mostUnits } from "../state/context-fields.js";
import { parseOptions } from "./parse-options.js";

const format = "gpt2-wasm texts";
const version = 1;

/** A text of a file. */
export interface FiledText {
  name: string | undefined;
  /** In milliseconds since 1970. */
  changed: number;
  /** The stored form, without the undo history. */
  content: KeptText & { options?: unknown; seed?: unknown; fields?: unknown };
}

/** `kept` with its draft as its text. */
export function settled({ draft, history: _, ...kept }: KeptText): KeptText {
  const change = draft === undefined ? undefined : differenceOf(kept.text, draft);
  if (draft === undefined || !change) return kept;
  const { from, to, insert } = change;
  const by = insert.length - (to - from);
  const written = kept.written.flatMap(([start, end, ...lang]): Part[] => [
    [start, Math.min(end, from), ...lang],
    [Math.max(start, to) + by, end + by, ...lang],
  ]);
  const { tree, caret } = kept;
  return { text: draft, caret, written: written.filter(([start, end]) => start < end), tree };
}

/** The file of `texts`. */
export const toFile = (texts: readonly FiledText[]): string =>
  JSON.stringify(
    {
      format,
      version,
      texts: texts.map(({ name, changed, content }) => ({
        name,
        changed: new Date(changed).toISOString(),
        ...content,
      })),
    },
    undefined,
    1,
  );

/** Characters of a value that a message shows. */
const mostShown = 40;

function refuse(where: string, expected: string, found: unknown): never {
  const json = found === undefined ? phrase("nothing") : JSON.stringify(found);
  const shown = json.length > mostShown ? `${json.slice(0, mostShown)}…` : json;
  throw new Error(phrase("unexpected", { where, expected, found: shown }));
}

/** The most branches of a text: more than a visitor makes, and few enough to be shown at once. */
const mostBranches = 1000;

type Fields = Readonly<Record<string, unknown>>;

function fieldsOf(value: unknown, where: string, names: readonly string[]): Fields {
  if (typeof value !== "object" || value === null || Array.isArray(value))
    refuse(where, phrase("object"), value);
  for (const name of Object.keys(value))
    if (!names.includes(name)) throw new Error(phrase("unknownField", { where, name: JSON.stringify(name) }));
  return value as Fields;
}

function listOf(value: unknown, where: string): readonly unknown[] {
  return Array.isArray(value) ? value : refuse(where, phrase("list"), value);
}

/** The ranges in `value`, for a text of `length`, without those that overlap the one before. */
function partsOf(value: unknown, where: string, length: number): readonly Readonly<Part>[] {
  for (const [place, each] of listOf(value, where).entries()) {
    const [part] = parseParts([each]);
    if (!part || part[1] > length) refuse(`${where}[${place}]`, phrase("offsets", { length }), each);
  }
  return parseParts(value);
}

/** A text and who wrote it: a field of the file, or a branch in one. */
function textOf({ text, caret, written }: Fields, where: string): KeptText {
  if (typeof text !== "string" || asLines(text) !== text) refuse(`${where}.text`, phrase("lines"), text);
  if (!isOffset(caret) || caret > text.length)
    refuse(`${where}.caret`, phrase("offset", { length: text.length }), caret);
  return { text, caret, written: partsOf(written, `${where}.written`, text.length) };
}

function treeOf(value: unknown, where: string): unknown {
  const found = fieldsOf(value, where, ["branches", "current"]);
  const branches = listOf(found.branches, `${where}.branches`);
  for (const [place, each] of branches.entries()) {
    const branch = `${where}.branches[${place}]`;
    const { kept } = fieldsOf(each, branch, ["id", "parent", "name", "kept"]);
    textOf(fieldsOf(kept, `${branch}.kept`, ["text", "caret", "written"]), `${branch}.kept`);
  }
  const tree = parseTree(value);
  if (tree?.branches.length !== branches.length || branches.length > mostBranches)
    refuse(where, phrase("branches", { most: mostBranches }), value);
  return tree;
}

function alternativesOf(value: unknown, where: string): unknown {
  const found = fieldsOf(value, where, ["all", "shown"]);
  const all = listOf(found.all, `${where}.all`);
  if (parseAlternatives(value).all.length !== all.length || all.length > mostAlternatives)
    refuse(where, phrase("twoTexts", { most: mostAlternatives }), value);
  return value;
}

function optionsOf(value: unknown, where: string): unknown {
  const options = parseOptions(value);
  for (const [name, each] of Object.entries(fieldsOf(value, where, Object.keys(Object(value) as object))))
    if (!Object.hasOwn(options, name)) refuse(`${where}.${name}`, phrase("option"), each);
  return options;
}

const names = [
  "name",
  "changed",
  "text",
  "caret",
  "written",
  "run",
  "tree",
  "alternatives",
  "options",
  "seed",
  "fields",
] as const;

function parseText(value: unknown, where: string): FiledText {
  const found = fieldsOf(value, where, names);
  const { name, changed, run, tree, alternatives, options, seed, fields } = found;
  if (name !== undefined && typeof name !== "string") refuse(`${where}.name`, phrase("text"), name);
  const time = typeof changed === "string" ? Date.parse(changed) : NaN;
  if (Number.isNaN(time)) refuse(`${where}.changed`, phrase("time"), changed);
  const kept = textOf(found, where);
  if (!areFields(fields)) refuse(`${where}.fields`, phrase("twoFields", { most: mostUnits }), fields);
  const set = parseFields(fields);
  if (seed !== undefined && !isOffset(seed)) refuse(`${where}.seed`, phrase("wholeNumber"), seed);
  const isEmpty = Array.isArray(run) && run.length === 2 && run[0] === run[1]; // earlier releases wrote these
  const last = run === undefined || isEmpty ? [] : partsOf([run], `${where}.run`, kept.text.length);
  const content = {
    ...kept,
    ...(last[0] && { run: [last[0][0], last[0][1]] as const }),
    ...(tree !== undefined && { tree: treeOf(tree, `${where}.tree`) }),
    ...(alternatives !== undefined && {
      alternatives: alternativesOf(alternatives, `${where}.alternatives`),
    }),
    ...(options !== undefined && { options: optionsOf(options, `${where}.options`) }),
    ...(seed !== undefined && { seed }),
    ...(set && { fields: set }),
  };
  return { name, changed: Math.max(0, time), content };
}

function parseJson(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch (error) {
    throw new Error(phrase("noJson"), { cause: error });
  }
}

/** The texts of a file from `toFile`. Throws if the file is of another kind or damaged, and names what is wrong. */
export function parseFile(json: string): FiledText[] {
  const value = parseJson(json);
  const found = Object(value) as Fields;
  if (found.format !== format) throw new Error(phrase("noJson"));
  if (found.version !== version) refuse("version", String(version), found.version);
  const { texts } = fieldsOf(value, phrase("file"), ["format", "version", "texts"]);
  return listOf(texts, "texts").map((each, place) => parseText(each, `texts[${place}]`));
}
