// The rules for prose beside its spelling: the length of a sentence and of a paragraph.
import { Parser } from "commonmark";

/** Words in a sentence, and sentences in a paragraph. */
export const longestSentence = 25;
export const longestParagraph = 4;

/** @typedef {{ line: number, text: string }} Block */

/**
 * The blocks of prose in a Markdown document: paragraphs, items, headings and cells of tables. Code is left out; code within a
 * sentence counts as one word.
 * @param {string} markdown
 * @returns {Block[]}
 */
export function blocksOf(markdown) {
  // Front matter is not prose.
  const text = markdown.replace(/^---\n[^]*?\n---\n/, (front) => front.replace(/[^\n]/g, ""));
  const walker = new Parser().parse(text).walker();
  /** @type {Block[]} */
  const blocks = [];
  /** @type {Block | undefined} */
  let block;
  let quotes = 0; // quotations keep their author's words
  for (let event = walker.next(); event; event = walker.next()) {
    const { node, entering } = event;
    if (node.type === "block_quote") quotes += entering ? 1 : -1;
    if (quotes > 0) continue;
    if (node.type === "paragraph" || node.type === "heading") {
      if (entering) block = { line: node.sourcepos[0][0], text: "" };
      else if (block) blocks.push(...cellsOf(block));
      if (!entering) block = undefined;
    } else if (block) {
      if (node.type === "text") block.text += node.literal ?? "";
      else if (node.type === "code") block.text += "`code`";
      else if (node.type === "softbreak" || node.type === "linebreak") block.text += "\n";
    }
  }
  return blocks.filter(({ text: each }) => /\p{L}/u.test(each));
}

/**
 * The cells of a table, which commonmark reads as a paragraph; or the paragraph itself.
 * @param {Block} block
 * @returns {Block[]}
 */
function cellsOf({ line, text }) {
  if (!text.startsWith("|")) return [{ line, text: text.replaceAll("\n", " ") }];
  return text
    .split("\n")
    .flatMap((row, index) => row.split("|").map((cell) => ({ line: line + index, text: cell.trim() })));
}

/**
 * The sentences of a block. A sentence ends in front of a space; a colon or a semicolon does not end it.
 * @param {string} text
 */
export const sentencesOf = (text) =>
  text
    .replace(/\b(e\.g|i\.e|etc|vs|St|Mr|Dr)\./g, "$1")
    .split(/(?<=[.!?…][)"'”’*_]*)\s+/)
    .filter((sentence) => /\p{L}/u.test(sentence));

/** @param {string} sentence */
const wordsOf = (sentence) => sentence.split(/[\s/]+/).filter((word) => /[\p{L}\p{N}]/u.test(word)).length;

/**
 * The sentences of a text that have too many words.
 * @param {string} text
 */
export const longSentencesIn = (text) =>
  sentencesOf(text)
    .filter((sentence) => wordsOf(sentence) > longestSentence)
    .map((sentence) => `${wordsOf(sentence)} words in a sentence, at most ${longestSentence}: "${sentence}"`);

/** Begins an item of a list, or a tag. */
const item = /^([-@]|\d+\.) ?/;

/** How a comment line begins: in code, and in CMake and YAML. */
const lineComments = { "//": /^\s*\/\/ ?(.*)$/, "#": /^\s*#(?!!) ?(.*)$/ };

/**
 * The comments of a source file: runs of lines that begin with `mark`, and `/* … *\/`. Each tag, item of a list and empty line
 * begins a new block. Lines that are indented within a comment are formulas, drawings or code, and are left out. Code between
 * backticks counts as one word.
 * @param {string} source
 * @param {"//" | "#"} mark
 * @returns {Block[]}
 */
export function commentsOf(source, mark = "//") {
  /** @type {Block[]} */
  const blocks = [];
  let isOpen = false; // whether the next line of a comment continues the last block
  let isDoc = false;
  for (const [index, line] of source.split("\n").entries()) {
    const opens = mark === "//" ? /^\s*\/\*+(?!\/)(.*)$/.exec(line) : null;
    const text = isDoc
      ? line.replace(/^\s*(?:\*(?!\/) ?| {3})/, "")
      : (opens?.[1] ?? lineComments[mark].exec(line)?.[1]);
    if (opens) isOpen = false;
    if (opens || isDoc) isDoc = !line.includes("*/");
    const last = blocks.at(-1);
    const isItem = isOpen && last !== undefined && item.test(last.text);
    const isCode = /^ {2}/.test(text ?? "") && !isItem;
    const words = isCode ? "" : text?.replace(/\*\/\s*$/, "").trim();
    if (!words) isOpen = false;
    if (words && isOpen && last && !item.test(words)) last.text += ` ${words}`;
    else if (words) blocks.push({ line: index + 1, text: words });
    isOpen = Boolean(words) && (isDoc || !line.includes("*/"));
  }
  return blocks.map(({ line, text }) => ({ line, text: text.replace(/`[^`]*`/g, "`code`") }));
}

/**
 * The problems in a block of prose.
 * @param {Block} block
 * @returns {string[]}
 */
export function problemsOf({ text }) {
  const sentences = sentencesOf(text);
  const many =
    sentences.length > longestParagraph
      ? [`${sentences.length} sentences in a paragraph, at most ${longestParagraph}: "${sentences[0]}"`]
      : [];
  return [...longSentencesIn(text), ...many];
}
