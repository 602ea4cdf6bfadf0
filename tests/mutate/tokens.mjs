// The tokens of a C++ source file, as far as planting faults needs them.

const pattern = new RegExp(
  [
    String.raw`(?<space>\s+)`,
    String.raw`(?<comment>//[^\n]*|/\*[^]*?\*/)`,
    String.raw`(?<directive>(?<=^[ \t]*)#(?:\\\n|[^\n])*)`, // with the lines that it goes on to
    String.raw`(?<text>R"(?<mark>[^(]*)\([^]*?\)\k<mark>"|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')`,
    String.raw`(?<number>0[xX][\da-fA-F.']+(?:[pP][+-]?\d+)?\w*|\.?\d[\d.']*(?:[eE][+-]?\d+)?\w*)`,
    String.raw`(?<name>[A-Za-z_]\w*)`,
    String.raw`(?<operator><<=|>>=|<=>|->\*|\.\.\.|[-+*/%&|^=!<>]=|&&|\|\||<<|\+\+|--|->|::|[^])`,
  ].join("|"),
  "gym",
);

/**
 * The tokens of `source` without white space and comments: `{ kind, text, start, end }` with kinds directive, text
 * (strings and characters), number, name and operator. `>>` is two tokens, as in templates.
 * @typedef {{ kind: string, text: string, start: number, end: number }} Token
 * @param {string} source
 * @returns {Token[]}
 */
export function tokensOf(source) {
  const tokens = [];
  for (const match of source.matchAll(pattern)) {
    const kind = ["comment", "directive", "text", "number", "name", "operator"].find(
      (group) => match.groups?.[group] !== undefined,
    );
    if (kind === undefined || kind === "comment") continue;
    tokens.push({ kind, text: match[0], start: match.index, end: match.index + match[0].length });
  }
  return tokens;
}

/** Placeholder for a token before the first one, or after the last.
 * @type {Token}
 */
export const noToken = { kind: "end", text: "", start: -1, end: -1 };

/**
 * The index of the bracket that closes the one at `open`; the last token's where none does.
 * @param {readonly Token[]} tokens
 * @param {number} open
 */
export function closing(tokens, open) {
  let depth = 0;
  for (let i = open; i < tokens.length; ++i) {
    const { kind, text } = tokens[i] ?? noToken;
    if (kind !== "operator") continue;
    if ("([{".includes(text)) ++depth;
    else if (")]}".includes(text) && --depth === 0) return i;
  }
  return tokens.length - 1;
}
