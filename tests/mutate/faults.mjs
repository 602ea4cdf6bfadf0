// The faults that can be planted in a C++ source file: small mistakes that a programmer makes.
//
// No faults are planted in comments, directives, code that only WebAssembly compiles, strings, assert and static_assert,
// alignas and attributes, or template parameters. The argument of reserve() is left alone, too, and so are the arguments
// of `ParallelFor` and `Grain` that say how finely work is shared.
import { closing, noToken, tokensOf } from "./tokens.mjs";

/** @typedef {import("./tokens.mjs").Token} Token */

// Binary operators have spaces around them, because clang-format writes them so.
/** @type {Record<string, string[]>} */
const comparisons = {
  "<": ["<=", ">="],
  "<=": ["<", ">"],
  ">": [">=", "<="],
  ">=": [">", "<"],
  "==": ["!="],
  "!=": ["=="],
};
/** @type {Record<string, string>} */
const arithmetic = {
  "+": "-",
  "-": "+",
  "*": "/",
  "/": "*",
  "%": "*",
  "+=": "-=",
  "-=": "+=",
  "*=": "/=",
  "/=": "*=",
  "<<": "<",
  "&": "|",
  "|": "&",
  "^": "&",
  "&=": "|=",
  "|=": "&=",
};
/** @type {Record<string, string>} */
const conditions = { "&&": "||", "||": "&&" };

// A name after one of these does not begin a statement that could be left out.
const notStatements = new Set(
  (
    "alignas auto case class const constexpr default do else enum explicit extern for friend goto if inline namespace " +
    "operator private protected public return static static_assert struct switch template typedef typename union using " +
    "virtual while"
  ).split(" "),
);

/**
 * The replacement of `number`: 1 for 0, 0 for 1, the next for other whole numbers, the double for fractions.
 * @param {string} number
 */
function otherNumber(number) {
  const [, digits, suffix = ""] = /^(\d[\d']*|0[xX][\da-fA-F']+)([uUlLzZ]*)$/.exec(number) ?? [];
  if (digits === undefined) {
    const value = Number.parseFloat(number);
    if (value === 1) return number.replace("1", "0");
    return value === 0 && !/^0[xX]/.test(number) ? number.replace("0", "1") : `(2 * ${number})`;
  }
  const value = BigInt(digits.replaceAll("'", ""));
  return `${value === 1n ? 0n : value + 1n}${suffix}`;
}

/**
 * The #else or #endif of the #if at `first`.
 * @param {readonly Token[]} tokens
 * @param {number} first
 */
function elseOrEnd(tokens, first) {
  let depth = 0;
  for (const [i, { kind, text }] of tokens.entries()) {
    if (i < first || kind !== "directive") continue;
    if (/^#\s*if/.test(text)) ++depth;
    if (/^#\s*endif/.test(text)) --depth;
    if (depth === 0 || (depth === 1 && /^#\s*else/.test(text))) return i;
  }
  return tokens.length - 1;
}

/**
 * Marks the tokens that lie where no fault is planted.
 * @param {readonly Token[]} tokens
 */
function leftAlone(tokens) {
  const alone = new Uint8Array(tokens.length);
  /** @type {(first: number, last: number) => void} */
  const leave = (first, last) => void alone.fill(1, first, last + 1);
  for (const [i, { kind, text }] of tokens.entries()) {
    const next = tokens[i + 1]?.text;
    if (kind === "directive") {
      leave(i, i);
      if (/^#\s*ifdef __wasm/.test(text)) leave(i, elseOrEnd(tokens, i));
    }
    if (/^(assert|static_assert|alignas|reserve|Grain)$/.test(text) && next === "(")
      leave(i, closing(tokens, i + 1));
    if (text === "[" && next === "[") leave(i, closing(tokens, i));
    if (text === "ParallelFor") {
      const comma = tokens.findIndex((token, at) => at > i && token.text === ",");
      const end = tokens.findIndex((token, at) => at > comma && token.text === ",");
      if (comma > 0 && end > 0) leave(comma, end);
    }
    if (text === "template" && next === "<") {
      leave(i, closingAngle(tokens, i + 1));
    }
  }
  return alone;
}

/**
 * The index of the `>` that closes the `<` at `open`; that past the last token where none does.
 * @param {readonly Token[]} tokens
 * @param {number} open
 */
function closingAngle(tokens, open) {
  let depth = 0;
  for (let i = open; i < tokens.length; ++i) {
    depth += tokens[i]?.text === "<" ? 1 : tokens[i]?.text === ">" ? -1 : 0;
    if (depth === 0) return i;
  }
  return tokens.length;
}

/**
 * The last token of the statement that begins at `first`, if it is one that can be left out.
 * @param {readonly Token[]} tokens
 * @param {number} first
 */
function deletable(tokens, first) {
  const begin = tokens[first] ?? noToken;
  if (/^(break|continue|return)$/.test(begin.text)) {
    return tokens[first + 1]?.text === ";" ? first + 1 : undefined;
  }
  if (begin.kind !== "name" && !/^(\+\+|--|\*|\()$/.test(begin.text)) return undefined;
  if (notStatements.has(begin.text)) return undefined;
  // A declaration: a type, then a name.
  let at = first;
  if (begin.kind === "name") {
    while (tokens[at + 1]?.text === "::" && tokens[at + 2]?.kind === "name") at += 2;
    ++at;
    const isGlued = () => tokens[at]?.start === tokens[at - 1]?.end;
    if (tokens[at]?.text === "<" && isGlued()) at = closingAngle(tokens, at) + 1;
    while (/^[*&]|&&$/.test(tokens[at]?.text ?? "") && isGlued()) ++at;
    if (tokens[at]?.kind === "name") return undefined;
  }
  let hasEffect = false;
  for (let i = first; i < tokens.length; ++i) {
    const { kind, text } = tokens[i] ?? noToken;
    if (kind !== "operator") continue;
    if (text === ";") {
      const isDeclared = /^(delete|default)$/.test(tokens[i - 1]?.text ?? "");
      return hasEffect && !isDeclared ? i : undefined;
    }
    if (text === "{" && i === first + 1) return undefined;
    if (text === "}" || text === "?" || text === ":") return undefined;
    hasEffect ||= /^(\(|\+\+|--|[-+*/%&|^]?=)$/.test(text);
    if ("([{".includes(text)) i = closing(tokens, i);
  }
  return undefined;
}

/**
 * The text `before`, [start, end), is replaced by `after`. Lines and columns count from 1.
 * @typedef {{ kind: string, start: number, end: number, before: string, after: string, line: number,
 *   column: number }} Fault
 */

/**
 * All faults that can be planted in `source`.
 * @param {string} source
 */
export function faultsOf(source) {
  const tokens = tokensOf(source);
  const alone = leftAlone(tokens);
  /** @type {Fault[]} */
  const faults = [];
  const lineStarts = [0];
  for (let at = source.indexOf("\n"); at >= 0; at = source.indexOf("\n", at + 1)) lineStarts.push(at + 1);
  /** @type {(kind: string, start: number, end: number, after: string) => void} */
  const add = (kind, start, end, after) => {
    const line = lineStarts.findLastIndex((lineStart) => lineStart <= start);
    faults.push({
      kind,
      start,
      end,
      before: source.slice(start, end),
      after,
      line: line + 1,
      column: start - (lineStarts[line] ?? 0) + 1,
    });
  };
  /** @type {(start: number, end: number) => boolean} */
  const isBetweenSpaces = (start, end) => /\s/.test(source[start - 1] ?? "") && /\s/.test(source[end] ?? "");
  /** @type {number[]} The brackets that enclose a token, by their indices. */
  const open = [];

  for (const [i, { kind, text, start, end }] of tokens.entries()) {
    const enclosing = open.at(-1);
    const isInBlock = enclosing === undefined || tokens[enclosing]?.text === "{";
    if (kind === "operator" && "([{".includes(text)) open.push(i);
    if (kind === "operator" && ")]}".includes(text)) open.pop();
    if (alone[i]) continue;
    const before = tokens[i - 1]?.text;
    if (before === "operator") continue;
    if (kind === "operator" && isBetweenSpaces(start, end)) {
      for (const after of comparisons[text] ?? []) add("comparison", start, end, after);
      if (arithmetic[text]) add("arithmetic", start, end, text === "<<" ? ">>" : arithmetic[text]);
      if (conditions[text]) add("condition", start, end, conditions[text]);
    }
    const isShift = text === ">" && source[end] === ">" && isBetweenSpaces(start, end + 1);
    if (isShift) add("arithmetic", start, end + 1, "<<");
    if (text === "++" || text === "--") add("arithmetic", start, end, text === "++" ? "--" : "++");
    if (text === "!" && tokens[i + 1]?.start === end) add("condition", start, end, "");
    if (kind === "number") add("constant", start, end, otherNumber(text));
    if (text === "true" || text === "false") add("constant", start, end, text === "true" ? "false" : "true");
    if ((text === "if" || text === "while") && tokens[i + 1]?.text === "(") {
      const close = closing(tokens, i + 1);
      // The declaration in an if statement stays.
      let first = i + 2;
      for (let at = first; at < close; ++at) {
        const inside = tokens[at]?.text ?? "";
        if (inside === ";") first = at + 1;
        if ("([{".includes(inside)) at = closing(tokens, at);
      }
      const from = tokens[first]?.start ?? 0;
      const to = tokens[close]?.start ?? 0;
      const condition = source.slice(from, to);
      if (condition !== "true") {
        add("condition", from, to, `!(${condition})`);
        add("condition", from, to, `(${condition}) && false`);
        if (text === "if") add("condition", from, to, `(${condition}) || true`);
      }
    }
    const isStart = /^([;{}]|else)$/.test(before ?? "") || (before === ")" && closesControl(tokens, i - 1));
    // The last break of a switch has no effect.
    const isLastBreak =
      text === "break" && tokens[i + 2]?.text === "}" && isSwitch(tokens, (enclosing ?? 0) - 1);
    const last = isInBlock && isStart && !isLastBreak ? deletable(tokens, i) : undefined;
    if (last !== undefined) add("deleted statement", start, tokens[last]?.end ?? start, ";");
  }
  return faults;
}

/**
 * The token before the parentheses that end at `close`: if, for, while, the name of a function.
 * @param {readonly Token[]} tokens
 * @param {number} close
 */
function headOf(tokens, close) {
  let depth = 0;
  for (let i = close; i >= 0; --i) {
    if (tokens[i]?.text === ")") ++depth;
    if (tokens[i]?.text === "(" && --depth === 0) return tokens[i - 1]?.text ?? "";
  }
  return "";
}

/** @type {(tokens: readonly Token[], close: number) => boolean} */
const closesControl = (tokens, close) => /^(if|for|while|switch|constexpr)$/.test(headOf(tokens, close));
/** @type {(tokens: readonly Token[], close: number) => boolean} */
const isSwitch = (tokens, close) => tokens[close]?.text === ")" && headOf(tokens, close) === "switch";
