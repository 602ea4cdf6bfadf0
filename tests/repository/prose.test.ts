// Tests the prose lint itself: what it reads as a sentence, a paragraph and a comment.
import { expect, it } from "vitest";
import { blocksOf, commentsOf, longestSentence, problemsOf, sentencesOf } from "../lint/prose-rules.mjs";

it("the prose lint counts the words of a sentence and the sentences of a paragraph", () => {
  const most = `${"word ".repeat(longestSentence).trim()}.`;
  const texts = [`${most} ${most}`, `A. Word ${most}`, "One is. ".repeat(4), "One is. ".repeat(5)];
  expect(texts.map((text) => problemsOf({ line: 1, text }).length)).toEqual([0, 1, 0, 1]);
  // A point in a number or in code ends no sentence.
  expect(sentencesOf("It is 0.5 % of `a.b`. Is it? (Yes.) It ends")).toHaveLength(4);
});

const source = `// One \`a b\` is
// one.
//   y = a x
// where x is two.
int x;  // not this
  /** Two. */
/**
 * Three
 * is three.
 *
 * - Item
 *   of two lines.
 * @attr four
 */
const five = "// no";
`;
const inSource = [
  "1 One `code` is one.",
  "4 where x is two.",
  "6 Two.",
  "8 Three is three.",
  "11 - Item of two lines.",
  "13 @attr four",
];
const css = "a {\n  color: red; /* not this */\n}\n  /* One is\n     one. */\n/* Two. */\n";
const cmake = "#!/bin/sh\n# One is\n# one.\nset(x 1)  # not this\n  # Two.\n";
const markdown =
  "---\ntitle: x\n---\n# A `b`\n\n- item\n\n| one | two |\n| --- | --- |\n| three | |\n\n```js\ncode\n```\n";

it.each([
  ["TypeScript", commentsOf(source), inSource],
  ["CSS", commentsOf(css), ["4 One is one.", "6 Two."]],
  ["CMake", commentsOf(cmake, "#"), ["2 One is one.", "5 Two."]],
  ["Markdown", blocksOf(markdown), ["4 A `code`", "6 item", "8 one", "8 two", "10 three"]],
])("the prose lint reads the blocks of %s, and no code", (_, blocks, expected) => {
  expect(blocks.map(({ line, text }) => `${line} ${text}`)).toEqual(expected);
});
