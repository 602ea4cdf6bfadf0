// The faults that can be planted in a C++ source file: small mistakes that a programmer makes.
//
// Left alone: comments, directives, strings, assert and static_assert, alignas and attributes, template parameters,
// the argument of reserve(), and the arguments of `ParallelFor` and `Grain` that say how finely work is shared out.
import { closing, tokensOf } from "./tokens.mjs";

// Operators stand between spaces where they are binary: clang-format sees to it.
const comparisons = {
  "<": ["<=", ">="],
  "<=": ["<", ">"],
  ">": [">=", "<="],
  ">=": [">", "<"],
  "==": ["!="],
  "!=": ["=="],
};
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
const conditions = { "&&": "||", "||": "&&" };

// After these a name does not begin a statement that could be left out.
const notStatements = new Set(
  (
    "alignas auto case class const constexpr default do else enum explicit extern for friend goto if inline namespace " +
    "operator private protected public return static static_assert struct switch template typedef typename union using " +
    "virtual while"
  ).split(" "),
);

/** What `number` is replaced by: 0 by 1, 1 by 0, other whole numbers by the next, fractions by their double. */
function otherNumber(number) {
  const whole = /^(\d[\d']*|0[xX][\da-fA-F']+)([uUlLzZ]*)$/.exec(number);
  if (!whole) {
    const value = Number.parseFloat(number);
    if (value === 1) return number.replace("1", "0");
    return value === 0 && !/^0[xX]/.test(number) ? number.replace("0", "1") : `(2 * ${number})`;
  }
  const value = BigInt(whole[1].replaceAll("'", ""));
  return `${value === 1n ? 0n : value + 1n}${whole[2]}`;
}

/** Which tokens lie where no fault is planted. */
function leftAlone(tokens) {
  const alone = new Uint8Array(tokens.length);
  const leave = (first, last) => alone.fill(1, first, last + 1);
  for (let i = 0; i < tokens.length; ++i) {
    const { kind, text } = tokens[i];
    const next = tokens[i + 1]?.text;
    if (kind === "directive") leave(i, i);
    if (/^(assert|static_assert|alignas|reserve|Grain)$/.test(text) && next === "(")
      leave(i, closing(tokens, i + 1));
    if (text === "[" && next === "[") leave(i, closing(tokens, i));
    if (text === "ParallelFor") {
      const comma = tokens.findIndex((token, at) => at > i && token.text === ",");
      const end = tokens.findIndex((token, at) => at > comma && token.text === ",");
      if (comma > 0 && end > 0) leave(comma, end);
    }
    if (text === "template" && next === "<") {
      let depth = 0;
      let last = i + 1;
      for (; last < tokens.length; ++last) {
        depth += tokens[last].text === "<" ? 1 : tokens[last].text === ">" ? -1 : 0;
        if (depth === 0) break;
      }
      leave(i, last);
    }
  }
  return alone;
}

/** The last token of the statement that begins at `first`, if it is one that can be left out. */
function deletable(tokens, first) {
  const begin = tokens[first];
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
    if (tokens[at]?.text === "<" && tokens[at].start === tokens[at - 1].end) {
      let depth = 0;
      for (; at < tokens.length; ++at) {
        depth += tokens[at].text === "<" ? 1 : tokens[at].text === ">" ? -1 : 0;
        if (depth === 0) break;
      }
      ++at;
    }
    while (/^[*&]|&&$/.test(tokens[at]?.text ?? "") && tokens[at].start === tokens[at - 1].end) ++at;
    if (tokens[at]?.kind === "name") return undefined;
  }
  let hasEffect = false;
  for (let i = first; i < tokens.length; ++i) {
    const { kind, text } = tokens[i];
    if (kind !== "operator") continue;
    if (text === ";") {
      const isDeclared = /^(delete|default)$/.test(tokens[i - 1].text);
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
 * All faults that can be planted in `source`, as `{ kind, start, end, before, after, line, column }`: the text
 * [start, end) is replaced by `after`. Lines and columns count from 1.
 */
export function faultsOf(source) {
  const tokens = tokensOf(source);
  const alone = leftAlone(tokens);
  const faults = [];
  const lineStarts = [0];
  for (let at = source.indexOf("\n"); at >= 0; at = source.indexOf("\n", at + 1)) lineStarts.push(at + 1);
  const add = (kind, start, end, after) => {
    const line = lineStarts.findLastIndex((lineStart) => lineStart <= start);
    faults.push({
      kind,
      start,
      end,
      before: source.slice(start, end),
      after,
      line: line + 1,
      column: start - lineStarts[line] + 1,
    });
  };
  const isBetweenSpaces = ({ start, end }) => /\s/.test(source[start - 1]) && /\s/.test(source[end]);
  const open = []; // the brackets that enclose a token, by their indices

  for (let i = 0; i < tokens.length; ++i) {
    const token = tokens[i];
    const { kind, text, start, end } = token;
    const isInBlock = open.length === 0 || tokens[open.at(-1)].text === "{";
    if (kind === "operator" && "([{".includes(text)) open.push(i);
    if (kind === "operator" && ")]}".includes(text)) open.pop();
    if (alone[i]) continue;
    const before = tokens[i - 1]?.text;
    if (before === "operator") continue;
    if (kind === "operator" && isBetweenSpaces(token)) {
      for (const after of comparisons[text] ?? []) add("comparison", start, end, after);
      if (arithmetic[text]) add("arithmetic", start, end, text === "<<" ? ">>" : arithmetic[text]);
      if (conditions[text]) add("condition", start, end, conditions[text]);
    }
    const isShift = text === ">" && source[end] === ">" && isBetweenSpaces({ start, end: end + 1 });
    if (isShift) add("arithmetic", start, end + 1, "<<");
    if (text === "++" || text === "--") add("arithmetic", start, end, text === "++" ? "--" : "++");
    if (text === "!" && tokens[i + 1]?.start === end) add("condition", start, end, "");
    if (kind === "number") add("constant", start, end, otherNumber(text));
    if (text === "true" || text === "false") add("constant", start, end, text === "true" ? "false" : "true");
    if ((text === "if" || text === "while") && tokens[i + 1]?.text === "(") {
      const close = closing(tokens, i + 1);
      // What an if statement declares stays.
      let first = i + 2;
      for (let at = first; at < close; ++at) {
        if (tokens[at].text === ";") first = at + 1;
        if ("([{".includes(tokens[at].text)) at = closing(tokens, at);
      }
      const from = tokens[first].start;
      const to = tokens[close].start;
      const condition = source.slice(from, to);
      if (condition !== "true") {
        add("condition", from, to, `!(${condition})`);
        add("condition", from, to, `(${condition}) && false`);
        if (text === "if") add("condition", from, to, `(${condition}) || true`);
      }
    }
    const isStart = /^([;{}]|else)$/.test(before ?? "") || (before === ")" && closesControl(tokens, i - 1));
    // The last break of a switch only says that there is nothing below.
    const isLastBreak = text === "break" && tokens[i + 2]?.text === "}" && isSwitch(tokens, open.at(-1) - 1);
    const last = isInBlock && isStart && !isLastBreak ? deletable(tokens, i) : undefined;
    if (last !== undefined) add("deleted statement", start, tokens[last].end, ";");
  }
  return faults;
}

/** What stands before the parentheses that end at `close`: if, for, while, the name of a function. */
function headOf(tokens, close) {
  let depth = 0;
  for (let i = close; i >= 0; --i) {
    if (tokens[i].text === ")") ++depth;
    if (tokens[i].text === "(" && --depth === 0) return tokens[i - 1]?.text ?? "";
  }
  return "";
}

const closesControl = (tokens, close) => /^(if|for|while|switch|constexpr)$/.test(headOf(tokens, close));
const isSwitch = (tokens, close) => tokens[close]?.text === ")" && headOf(tokens, close) === "switch";
