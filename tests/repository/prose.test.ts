// Tests the prose lint itself: what it reads as a sentence, a paragraph and a comment.
import { describe, expect, it } from "vitest";
import {
  blocksOf,
  commentsOf,
  longestSentence,
  longSentencesIn,
  problemsOf,
  sentencesOf,
} from "../lint/prose-rules.mjs";

const problems = (text: string) => problemsOf({ line: 1, text });

describe("the prose lint", () => {
  it("the prose lint counts words by sentence", () => {
    const words = (count: number) => `${"word ".repeat(count).trim()}.`;
    expect(problems(`${words(longestSentence)} ${words(longestSentence)}`)).toEqual([]);
    expect(problems(`A. ${words(longestSentence + 1)}`)).toHaveLength(1);
    expect(sentencesOf("It is 0.5 % of `a.b`. Is it? (Yes.) It ends")).toHaveLength(4);
  });

  it("the prose lint counts sentences by paragraph", () => {
    expect(problems("One is. Two is. Three is. Four is.")).toEqual([]);
    expect(problems("One is. Two is. Three is. Four is. Five is.")).toHaveLength(1);
  });

  it("the prose lint reads the comments of source files block by block, and no code", () => {
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
    expect(commentsOf(source)).toEqual([
      { line: 1, text: "One `code` is one." },
      { line: 4, text: "where x is two." },
      { line: 6, text: "Two." },
      { line: 8, text: "Three is three." },
      { line: 11, text: "- Item of two lines." },
      { line: 13, text: "@attr four" },
    ]);
    const long = `/** ${"word ".repeat(longestSentence + 1).trim()}. */`;
    expect(commentsOf(long).flatMap(({ text }) => longSentencesIn(text))).toHaveLength(1);
  });

  it("the prose lint reads the comments of CSS, CMake and YAML", () => {
    const css = "a {\n  color: red; /* not this */\n}\n  /* One is\n     one. */\n/* Two. */\n";
    expect(commentsOf(css)).toEqual([
      { line: 4, text: "One is one." },
      { line: 6, text: "Two." },
    ]);
    const cmake = "#!/bin/sh\n# One is\n# one.\nset(x 1)  # not this\n  # Two.\n";
    expect(commentsOf(cmake, "#")).toEqual([
      { line: 2, text: "One is one." },
      { line: 5, text: "Two." },
    ]);
  });

  it("the prose lint reads paragraphs, items and cells of tables, and no code", () => {
    const markdown =
      "---\ntitle: x\n---\n# A `b`\n\n- item\n\n| one | two |\n| --- | --- |\n| three | |\n\n```js\ncode\n```\n";
    expect(blocksOf(markdown)).toEqual([
      { line: 4, text: "A `code`" },
      { line: 6, text: "item" },
      { line: 8, text: "one" },
      { line: 8, text: "two" },
      { line: 10, text: "three" },
    ]);
  });
});
