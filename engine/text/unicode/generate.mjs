// Writes ../unicode_ranges.inc: the code points that tokenizers tell apart, from the Unicode
// tables of this Node.js. Run by hand when Unicode grows: node engine/text/unicode/generate.mjs
import { writeFileSync } from "node:fs";

/** @type {[string, RegExp][]} */
const classes = [
  ["kLetter", /^\p{L}$/u],
  // \w of Rust's regular expressions tells these two apart, and has the last.
  ["kDigit", /^(?=\p{N})[\p{Alphabetic}\p{Nd}]$/u],
  ["kNumber", /^\p{N}$/u],
  ["kSpace", /^\p{White_Space}$/u],
  ["kWord", /^[\p{Alphabetic}\p{M}\p{Pc}\p{Join_Control}]$/u],
];

const classOf = (codePoint) => {
  if (codePoint >= 0xd800 && codePoint <= 0xdfff) return undefined; // surrogates are not characters
  const character = String.fromCodePoint(codePoint);
  return classes.find(([, pattern]) => pattern.test(character))?.[0];
};

const lines = [`// Made by unicode/generate.mjs from Unicode ${process.versions.unicode}; do not edit.`];
let start = 0;
for (let codePoint = 1; codePoint <= 0x110000; ++codePoint) {
  const name = classOf(start);
  if (codePoint < 0x110000 && classOf(codePoint) === name) continue;
  const hex = (value) => `0x${value.toString(16)}`;
  if (name) lines.push(`{${hex(start)}, ${hex(codePoint - 1)}, Stored::${name}},`);
  start = codePoint;
}
writeFileSync(new URL("../unicode_ranges.inc", import.meta.url), `${lines.join("\n")}\n`);
