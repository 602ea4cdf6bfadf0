// Tests the prose lint itself: it finds the phrases of its list, and accepts plain sentences.
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
  it.each([
    ["and another as fast as without", "other text is not slowed down"],
    [
      "Beside what else runs GPT-2 on a CPU in a browser, in turn",
      "Compared with other CPU runtimes (interleaved runs)",
    ],
    ["From the hub onto this page, in files of your own host", "Download a Hub model and host it yourself"],
    ["(`npm run model` has)", "(`npm run model` does this for you)"],
    ["the demo writes on until it has come", "the demo model stays usable until the download ends"],
    ["tell what would help, to the very header", "name the exact header to set"],
    ["What is generated is to the bit the same", "The output is bit-identical"],
    ["does the like with a model that is there", "does this for a loaded model"],
    [
      "A loop that does not read on stops the model",
      "Generation pauses when it is 256 tokens ahead of its reader",
    ],
    ["each of which says its own hash", "each file embeds its own hash"],
    ["What the hub refuses has its sentence", "Each refusal by the Hub has its own message"],
    ["also after a reload, and in one tab for all", "also after a reload; one tab downloads for all tabs"],
    [
      "those may be next that are a beginning of these bytes, or begin with them",
      "a token is allowed if it is a prefix of the remaining bytes or starts with all of them",
    ],
    ["but for who types what is suggested", "unless you type what it suggests"],
    ["So does a device that has become another one", "A change of speed also triggers a new measurement"],
    ["Nothing that is read is believed", "Every byte read from disk is verified"],
    ["why it no longer does is what to keep", "do not undo these fixes"],
    [
      "Killed are those that a test of `tests/web` fails on",
      "A mutant is killed when a test in `tests/web` fails",
    ],
    ["That alone unwinds", "Only `bad_alloc` unwinds the stack"],
    ["Half of the time.", "Halves the build time."],
    [
      "What of a token's bytes the end of the prompt has",
      "Which of a token's bytes repeat the end of the healed prompt",
    ],
    [
      "Is not to be collected as garbage while somebody reads",
      "Keeps the model alive while a reader holds the iterator",
    ],
    ["is of a type that there is not", "has the unknown value type 13"],
    ["is not to be had as it was", "could not be downloaded again; the stored copy was removed"],
  ])("the prose lint refuses “%s” and accepts “%s”", (contorted, plain) => {
    expect(problems(contorted)).not.toEqual([]);
    expect(problems(plain)).toEqual([]);
  });

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
