// Compares the character classes of the engine with JavaScript's regular expressions.
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { expect, it } from "vitest";

/** Letters, marks and numbers that are newer than Unicode 16, the version of the tokenizers' regular expressions. */
const newInUnicode17 =
  "88f,c5c,cdc,1acf-1add,1ae0-1aeb,a7ce-a7cf,a7d2,a7d4,a7f1,10940-10959,10ec5-10ec7,10efa-10efb,11b60-11b67,11db0-11ddb,11de0-11de9,16ea0-16eb8,16ebb-16ed3,16ff2-16ff6,187f8-187ff,18d09-18d1e,18d80-18df2,1e6c0-1e6de,1e6e0-1e6f5,1e6fe-1e6ff,2b73a-2b73f,2cea2-2cead,323b0-33479"
    .split(",")
    .map((range) => range.split("-").map((hex) => parseInt(hex, 16)));
const isNew = (codePoint: number) =>
  newInUnicode17.some(([first = 0, last = first]) => first <= codePoint && codePoint <= last);

// The classes that the pattern distinguishes. Python's \s, which GPT-2 used, is White_Space; JavaScript's own
// \s takes in U+FEFF and leaves out U+0085.
const classes = {
  kLetter: /^\p{L}$/u,
  kDigit: /^(?=\p{N})[\p{Alphabetic}\p{Nd}]$/u,
  kNumber: /^\p{N}$/u,
  kSpace: /^\p{White_Space}$/u,
  kWord: /^[\p{Alphabetic}\p{M}\p{Pc}\p{Join_Control}]$/u,
};

/** Class of each code point in the engine's own table; undefined for "other". */
function engineClasses(): (string | undefined)[] {
  const table = readFileSync(resolve(import.meta.dirname, "../../engine/text/unicode_ranges.inc"), "utf8");
  const found: (string | undefined)[] = Array.from({ length: 0x110000 });
  for (const [, first, end, name] of table.matchAll(/\{(0x[\da-f]+), (0x[\da-f]+), Stored::(\w+)\}/g))
    if (name !== "kLaterNumber") found.fill(name, Number(first), Number(end) + 1);
  return found;
}

const isSurrogate = (codePoint: number) => codePoint >= 0xd800 && codePoint <= 0xdfff;
const classHere = (character: string) =>
  Object.entries(classes).find(([, expression]) => expression.test(character))?.[0];

it("the character classes equal JavaScript's, except characters that only one of them supports", () => {
  const inEngine = engineClasses();
  const different: string[] = [];
  for (let codePoint = 0; codePoint < 0x110000; ++codePoint) {
    const character = String.fromCodePoint(codePoint);
    if (isSurrogate(codePoint) || inEngine[codePoint] === classHere(character)) continue;
    if (!isNew(codePoint) && !/^\p{Cn}$/u.test(character)) different.push(codePoint.toString(16));
  }
  expect(inEngine.filter(Boolean).length).toBeGreaterThan(140_000);
  expect(different).toEqual([]);
});
