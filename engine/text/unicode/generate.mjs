// Writes the tables of characters that tokenizers distinguish: ../unicode_ranges.inc, ../../languages/unicode_tables.inc
// and ../../languages/grapheme_unicode_ranges.inc. Run by hand: node engine/text/unicode/generate.mjs
//
// Hugging Face's `tokenizers` itself supplies them, because its parts use several versions of Unicode. Regular expressions
// use version 16, Digits and Lowercase 17, and the parts that are as old as BERT 8 to 11.
import { writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { installTokenizers, tokenizersVersion } from "../../../tests/bench/peers/install.mjs";
import { charsmap } from "../../../tests/support/sentence-piece.mjs";

const tokenizers = createRequire(import.meta.url)(installTokenizers());

/** All characters: code points except for surrogates. U+0000 has no class here. */
const codePoints = Array.from({ length: 0x110000 }, (_, i) => i).filter(
  (i) => i > 0 && (i < 0xd800 || i > 0xdfff),
);
const letters = codePoints.map((codePoint) => String.fromCodePoint(codePoint));

/** @param {object} json */
const preTokenizer = (json) => {
  const model = { type: "WordLevel", vocab: { a: 0 }, unk_token: "a" };
  const tokenizer = tokenizers.Tokenizer.fromString(
    JSON.stringify({ version: "1.0", added_tokens: [], pre_tokenizer: json, model }),
  );
  const cutter = tokenizer.getPreTokenizer();
  return (/** @type {string} */ text) => cutter.preTokenizeString(text).map(([piece]) => piece);
};
/** @param {string} Regex */
const matches = (Regex) => {
  const cut = preTokenizer({ type: "Split", pattern: { Regex }, behavior: "Removed", invert: false });
  return (/** @type {string} */ letter) => cut(letter).length === 0;
};
/** @param {object} json */
const isCut = (json) => {
  const cut = preTokenizer(json);
  return (/** @type {string} */ letter) => cut(`x${letter}`).length > 1;
};
const isLetter = matches("\\p{L}");
const isNumber = matches("\\p{N}");
const isSpace = matches("\\s");
const isLaterNumber = isCut({ type: "Digits", individual_digits: true });
const whitespace = preTokenizer({ type: "Whitespace" });
const isWord = (/** @type {string} */ letter) => whitespace(`x${letter}`)[0] !== "x";

/** @type {[string, (letter: string) => boolean][]} */
const classes = [
  ["kLetter", isLetter],
  // \w of Rust's regular expressions distinguishes these two, and contains the last one.
  ["kDigit", (letter) => isNumber(letter) && isWord(letter)],
  ["kNumber", isNumber],
  ["kSpace", isSpace],
  ["kWord", isWord],
  ["kLaterNumber", isLaterNumber],
];

/**
 * Calls `take` with each run of code points that `valueOf` gives the same value, except for undefined and 0.
 * @template T
 * @param {(letter: string) => T} valueOf
 * @param {(first: number, last: number, value: T) => void} take
 */
function forRuns(valueOf, take) {
  let first = -1;
  let last = -1;
  /** @type {T | undefined} */
  let value;
  letters.forEach((letter, i) => {
    const codePoint = codePoints[i] ?? 0;
    const next = valueOf(letter);
    if (next === value && codePoint === last + 1) return void (last = codePoint);
    if (value) take(first, last, value);
    [first, last, value] = [codePoint, codePoint, next];
  });
  if (value) take(first, last, value);
}

const made = `// Made by engine/text/unicode/generate.mjs from tokenizers ${tokenizersVersion}; do not edit.`;
const lines = [made];
forRuns(
  (letter) => classes.find(([, has]) => has(letter))?.[0],
  (first, last, name) => lines.push(`{0x${first.toString(16)}, 0x${last.toString(16)}, Stored::${name}},`),
);
writeFileSync(new URL("../unicode_ranges.inc", import.meta.url), `${lines.join("\n")}\n`);

/** Numbers of seven bits a byte, the lowest first, the top bit set on all but the last byte. */
class Numbers {
  /** @type {number[]} */
  bytes = [];

  /** @param {number[]} numbers */
  add(...numbers) {
    for (let number of numbers) {
      for (; number >= 0x80; number >>= 7) this.bytes.push((number & 0x7f) | 0x80);
      this.bytes.push(number);
    }
  }

  /** @param {string} name @param {string} comment */
  lines(name, comment) {
    const all = [comment, `constexpr unsigned char ${name}[] = {`];
    for (let at = 0; at < this.bytes.length; at += 24)
      all.push(`${this.bytes.slice(at, at + 24).join(",")},`);
    return [...all, "};"];
  }
}

/** @param {string} text */
const points = (text) => Array.from(text, (letter) => letter.codePointAt(0) ?? 0);
/** @param {{ normalizeString(text: string): string }} form */
const normalizing = (form) => (/** @type {string} */ text) => form.normalizeString(text);
const nfc = normalizing(tokenizers.nfcNormalizer());
const nfd = normalizing(tokenizers.nfdNormalizer());
const nfkd = normalizing(tokenizers.nfkdNormalizer());

function decompositions() {
  const numbers = new Numbers();
  let last = 0;
  letters.forEach((letter, i) => {
    const codePoint = codePoints[i] ?? 0;
    if (codePoint >= 0xac00 && codePoint <= 0xd7a3) return; // Hangul: by a formula
    const canonical = nfd(letter);
    const full = canonical === letter ? nfkd(letter) : canonical;
    if (full === letter) return;
    const kind = canonical === letter ? 0 : nfc(letter) === letter ? 1 : 2;
    const parts = points(full);
    numbers.add(codePoint - last, parts.length * 3 + kind, ...parts);
    last = codePoint;
  });
  return numbers.lines(
    "kDecompositions",
    "// For each character: the distance from the one before, its parts times three plus its Kind (unicode_forms.cc), and the parts.",
  );
}

/** The order of combining classes, from 1. The numbers of the classes do not matter. */
function combiningOrder() {
  const low = "\u0334"; // of class 1
  const high = "\u0345"; // of class 240
  const isMoved = (/** @type {string | undefined} */ a, /** @type {string | undefined} */ b) =>
    nfd(`x${a}${b}`) === `x${b}${a}` && a !== b;
  const marks = letters.filter(
    (letter) => nfd(letter) === letter && (isMoved(high, letter) || isMoved(letter, low)),
  );
  /** @type {string[][]} */
  const groups = [];
  for (const mark of marks) {
    const isBefore = (group) => isMoved(group[0], mark);
    const same = groups.find((group) => !isMoved(group[0], mark) && !isMoved(mark, group[0]));
    if (same) same.push(mark);
    else groups.splice([...groups.filter((group) => !isBefore(group))].length, 0, [mark]);
  }
  const ranks = new Map(groups.flatMap((group, i) => group.map((mark) => [mark, i + 1])));
  return (/** @type {string} */ letter) => ranks.get(letter) ?? 0;
}

function ranges(name, comment, valueOf) {
  const numbers = new Numbers();
  let end = 0;
  forRuns(valueOf, (first, last, value) => {
    numbers.add(first - end, last - first, value);
    end = last;
  });
  return numbers.lines(name, comment);
}

function lowercase() {
  const lower = tokenizers.lowercase();
  const numbers = new Numbers();
  let last = 0;
  letters.forEach((letter, i) => {
    const codePoint = codePoints[i] ?? 0;
    const becomes = points(lower.normalizeString(letter));
    const [to = 0] = becomes;
    // Only U+0130 becomes two characters, which Lowercased (unicode_forms.cc) handles itself.
    if (becomes.length !== 1 || to === codePoint) return;
    numbers.add(codePoint - last, to > codePoint ? 2 * (to - codePoint) : 2 * (codePoint - to) + 1);
    last = codePoint;
  });
  return numbers.lines(
    "kLowercase",
    "// For each character: the distance from the one before, and twice the distance from its lower case, plus one if that is lower.",
  );
}

/** BertNormalizer with one of its steps. */
const bert = (/** @type {object} */ step) =>
  normalizing(
    tokenizers.bertNormalizer({
      cleanText: false,
      handleChineseChars: false,
      stripAccents: false,
      lowercase: false,
      ...step,
    }),
  );
const cleaned = bert({ cleanText: true });
const unaccented = bert({ stripAccents: true });
const chinese = bert({ handleChineseChars: true });
const stripping = tokenizers.stripAccentsNormalizer();
const isPunctuation = isCut({ type: "Punctuation", behavior: "Isolated" });
const traits = (/** @type {string} */ letter) =>
  (stripping.normalizeString(letter) === "" ? 1 : 0) +
  (unaccented(letter) === "" ? 2 : 0) +
  (cleaned(letter) === "" ? 4 : 0) +
  (isPunctuation(letter) ? 8 : 0) +
  (chinese(letter) !== letter ? 16 : 0);

/**
 * The properties that determine where a grapheme ends, as bits (GraphemePart in graphemes.cc). The normalizer Precompiled
 * looks up a grapheme of less than six bytes as a whole, and finds the shortest rule for its beginning. The rest of the
 * grapheme is lost. Whether a character of four bytes joins its neighbours hardly matters, because a grapheme of it and
 * any other character is longer.
 */
function graphemeParts() {
  const precompiled = (
    /** @type {readonly import("../../../tests/support/sentence-piece.mjs").Rule[]} */ ...rules
  ) => {
    const precompiled_charsmap = charsmap(rules).toString("base64");
    const model = { type: "WordLevel", vocab: { a: 0 }, unk_token: "a" };
    const normalizer = { type: "Precompiled", precompiled_charsmap };
    const json = { version: "1.0", added_tokens: [], normalizer, model };
    return normalizing(tokenizers.Tokenizer.fromString(JSON.stringify(json)).getNormalizer());
  };
  const mark = "\u0300";
  const ofMark = precompiled([mark, "m"]);
  const ofLetter = precompiled(["a", "b"], ["\u0915", "k"], ["\u00a9", "c"]);
  return (/** @type {string} */ letter) => {
    const isWhole = (/** @type {string} */ text) => ofLetter(text + mark).endsWith(mark);
    if (ofLetter(`a${letter}`) === "b") {
      const isLinker = isWhole(`\u0915${letter}\u0915`) ? 2 : 0;
      const endsPictures = isWhole(`\u00a9${letter}\u200d\u00a9`) ? 0 : 64;
      const endsConsonants = isWhole(`\u0915${letter}\u094d\u0915`) ? 0 : 128;
      return 1 + isLinker + endsPictures + endsConsonants;
    }
    if (/[\u1100-\u11ff\ua960-\ua97c\uac00-\ud7fb]/.test(letter)) return 0; // Hangul: by ranges
    const isBefore = isWhole(`${letter}a`) ? 4 : 0;
    const isPicture = ofLetter(`\u00a9\u200d${letter}`).includes("\u200d") ? 8 : 0;
    // After a control character, the two marks begin a grapheme of their own.
    const isControl = ofMark(letter + mark + mark) === `${letter}m` ? 16 : 0;
    if (Buffer.byteLength(letter) > 3) return isBefore + isPicture + isControl;
    const ofThis = precompiled([letter, "y"]);
    const isConsonant = ofThis(`\u0915\u094d${letter}${mark}`).endsWith(mark) && isControl === 0 ? 32 : 0;
    return isBefore + isPicture + isControl + isConsonant;
  };
}

const tables = [
  made,
  ...decompositions(),
  ...ranges(
    "kCombining",
    "// For each run: the distance from the end of the run before, its length less 1, and the order of its combining class.",
    combiningOrder(),
  ),
  ...ranges("kTraits", "// The same with the sum of Trait.", traits),
  ...lowercase(),
];
writeFileSync(new URL("../../languages/unicode_tables.inc", import.meta.url), `${tables.join("\n")}\n`);

const graphemes = ranges(
  "kParts",
  "// For each run: the distance from the end of the run before, its length less 1, and the sum of GraphemePart.",
  graphemeParts(),
);
writeFileSync(
  new URL("../../languages/grapheme_unicode_ranges.inc", import.meta.url),
  `${[made, ...graphemes].join("\n")}\n`,
);
