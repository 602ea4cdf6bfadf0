// Writes what TypeScript and the documents need of options.json, the table of the options. Run by hand:
// node engine/generate/options.mjs. The builds of the engine, the page and custom-elements.json read the table itself.
import { readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const root = resolve(import.meta.dirname, "../..");

/**
 * An option. A numeric one has `least` and `most`. Those with `page` are also a field of the page, an attribute of the
 * elements, a member of completion requests, and an argument of `npx gpt2-wasm generate`.
 * @typedef {object} Option
 * @property {string} name - As in the web API. Elements and command lines write it in kebab-case
 * @property {boolean} [whole] - Only whole numbers are valid
 * @property {number} [least]
 * @property {number} [most]
 * @property {number | boolean | null | []} default - null: a random number
 * @property {boolean} [hub] - generation_config.json may set it, under its name in snake_case
 * @property {boolean} [ofText] - It depends on the text so far, so the picture of the options (web/page) cannot show it
 * @property {string} [openai] - Its name in completion requests, if that is not its name in snake_case
 * @property {number} [openaiDefault] - Its default there, if that is another one
 * @property {string} help - What it does: in doc comments, in --help and in docs/reference/api.md
 * @property {string} [argument] - The same for --help, if the argument does something else
 * @property {string} [more] - Further sentences for doc comments and docs/reference/api.md
 * @property {object} [page] - Its field on the page: web/page/parts/options/option-list.ts describes it
 */

/** @type {Option[]} */
export const options = JSON.parse(readFileSync(join(import.meta.dirname, "options.json"), "utf8"));
/** The numbers with `page`. */
export const offered = options.filter(({ most, page }) => most !== undefined && page !== undefined);

/** @param {Option} option */
const openaiName = ({ name, openai }) =>
  openai ?? name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** What an option does, and its default. @param {Option} option */
export function describe({ help, default: initial }) {
  if (Array.isArray(initial)) return help;
  return initial === null ? `${help}; by default a random one` : `${help}; default ${initial}`;
}

/** A member of an interface. @param {string} name @param {string} comment @param {string} type */
const member = (name, comment, type) => `  /** ${comment} */ ${name}?: ${type};\n`;

/** Their names in quotes. @param {Option[]} some */
const namesOf = (some, between = ", ") => some.map(({ name }) => `"${name}"`).join(between);
const ofHub = options.filter(({ hub }) => hub);
const filters = ofHub.filter(({ ofText }) => !ofText);

const typescript = () => `// Written by engine/generate/options.mjs: edit options.json beside it.

/** Options of a generation. A value in the model's generation_config.json replaces the default that is stated here. */
export interface GenerateOptions {
${options
  .map((option) => {
    const { name, more, default: initial } = option;
    const type = Array.isArray(initial) ? "string | readonly string[]" : typeof (initial ?? 0);
    return member(name, `${describe(option)}.${more ? ` ${more}` : ""}`, `${type} | undefined`);
  })
  .join("")}}

/** The values that a generation uses for options that a call leaves out. */
export type GenerationDefaults = Readonly<Record<${namesOf(ofHub, " | ")}, number>>;

/** Those that change a distribution without regard to the text. */
export type FilterName = ${namesOf(filters, " | ")};

/** The numbers of a completion request that control how to sample. */
export interface CompletionNumbers {
${offered
  .map((option) => {
    const stated = describe({ ...option, default: option.openaiDefault ?? option.default });
    return member(openaiName(option), `${stated}.`, "number | null | undefined");
  })
  .join("")}}

/** The names of all options. */
export const generateOptionNames: readonly string[] = [${namesOf(options)}];

/** The names of the table below. They are literals, so that a bundle that needs only them leaves the table out. */
export const numberOptionNames = [${namesOf(offered)}] as const;

export type NumberOptionName = (typeof numberOptionNames)[number];

export interface NumberOption {
  /** Its name in a completion request. */
  openai: string;
  /** The value if neither the caller nor the model's generation_config.json sets it; null: a random number. */
  initial: number | null;
  /** The same in a completion request, which follows OpenAI's defaults; undefined: \`initial\`. */
  openaiInitial?: number;
  least: number;
  most: number;
  isWhole: boolean;
}

/** The numbers that are attributes, members of a completion request, and fields of the page. */
export const numberOptions = {
${offered
  .map((option) => {
    const { name, default: initial, openaiDefault, least, most, whole = false } = option;
    const ofOpenai = openaiDefault === undefined ? "" : ` openaiInitial: ${openaiDefault},`;
    const range = `least: ${least}, most: ${most}, isWhole: ${whole}`;
    return `  ${name}: { openai: "${openaiName(option)}", initial: ${String(initial)},${ofOpenai} ${range} },\n`;
  })
  .join("")}} as const satisfies Record<NumberOptionName, NumberOption>;

/** The most continuations of one generation. */
export const mostContinuations = ${options.find(({ name }) => name === "n")?.most};
`;

/** The rows of the table in docs/reference/api.md. */
const rows = () =>
  options.map(({ name, default: initial, help, more }) => {
    const stated = initial === null ? "random" : Array.isArray(initial) ? "none" : initial;
    return `| \`${name}\` | ${stated} | ${`${help}. ${more ?? ""}`.trim().replaceAll("|", "\\|")} |`;
  });

/** The files that follow from options.json, and their text. */
export function written() {
  const document = join(root, "docs/reference/api.md");
  const text = readFileSync(document, "utf8");
  const marked = /(?<=<!-- options: [^>]*-->\n\n\|.*\n\|.*\n)(?:\|.*\n)*/;
  if (!marked.test(text)) throw new Error(`${document} has no table of the options`);
  return /** @type {const} */ ([
    [join(root, "web/src/shared/generate-options.ts"), typescript()],
    [document, text.replace(marked, () => `${rows().join("\n")}\n`)],
  ]);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const [file, text] of written()) writeFileSync(file, text);
}
