// Compares the command line's tokens with JavaScript: GPT-2's pattern as a regular expression with the flag u, and byte pairs
// merged the plain way. The random texts come from a fixed seed.
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, it } from "vitest";

const root = resolve(import.meta.dirname, "../..");
const tool = join(root, "build/native/weights_tools/gpt2-weights");
const folder = join(root, "tests/data/gpt2-tokenizer");

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
const pattern =
  /'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\p{White_Space}\p{L}\p{N}]+|\p{White_Space}+(?!\P{White_Space})|\p{White_Space}+/gu;

/** Class of each code point in the engine's own table; undefined for "other". */
function engineClasses(): (string | undefined)[] {
  const table = readFileSync(join(root, "engine/text/unicode_ranges.inc"), "utf8");
  const found: (string | undefined)[] = Array.from({ length: 0x110000 });
  for (const [, first, end, name] of table.matchAll(/\{(0x[\da-f]+), (0x[\da-f]+), Stored::(\w+)\}/g))
    if (name !== "kLaterNumber") found.fill(name, Number(first), Number(end) + 1);
  return found;
}

const isSurrogate = (codePoint: number) => codePoint >= 0xd800 && codePoint <= 0xdfff;
const classHere = (character: string) =>
  Object.entries(classes).find(([, expression]) => expression.test(character))?.[0];

// Mulberry32 (Tommy Ettinger, 2017).
function random(seed: number) {
  return () => {
    seed = (seed + 0x6d2b79f5) | 0;
    let t = Math.imul(seed ^ (seed >>> 15), seed | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** A plain version of GPT-2's encoder.py. */
class PlainTokenizer {
  readonly #ids: Record<string, number> = JSON.parse(readFileSync(join(folder, "vocab.json"), "utf8"));
  readonly #ranks = new Map(
    readFileSync(join(folder, "merges.txt"), "utf8")
      .split("\n")
      .filter((line) => line !== "" && !line.startsWith("#version"))
      .map((line, rank) => [line, rank]),
  );
  readonly #alphabet: string[] = [];

  constructor() {
    let substitute = 256;
    for (let byte = 0; byte < 256; ++byte) {
      const isPrintable = (byte >= 33 && byte <= 126) || (byte >= 161 && byte <= 172) || byte >= 174;
      this.#alphabet.push(String.fromCodePoint(isPrintable ? byte : substitute++));
    }
  }

  encode(text: string): number[] {
    return (text.match(pattern) ?? []).flatMap((word) => this.#encodeWord(word));
  }

  #encodeWord(word: string): number[] {
    let symbols = [...new TextEncoder().encode(word)].map((byte) => this.#alphabet[byte] ?? "");
    for (;;) {
      const ranks = symbols.map((symbol, i) => this.#ranks.get(`${symbol} ${symbols[i + 1]}`) ?? Infinity);
      const best = Math.min(...ranks);
      if (best === Infinity) return symbols.map((symbol) => this.#ids[symbol] ?? -1);
      const at = ranks.indexOf(best);
      symbols = [...symbols.slice(0, at), symbols.slice(at, at + 2).join(""), ...symbols.slice(at + 2)];
    }
  }
}

describe("character classes", () => {
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
});

describe("random texts", () => {
  const seed = 7;
  const texts = 4000;
  const inEngine = engineClasses();
  const next = random(seed);
  const below = (count: number) => Math.floor(next() * count);
  const pick = <T>(values: readonly T[]): T => values[below(values.length)] as T;
  const pieces = [
    ...Array.from(" \n\t\u00a0\u0085\u2003\u3000\ufeff'abcXYZ019.,!-_é½٣日本\u0301\u200d🙂"),
    ..."'s 't 're 've 'm 'll 'd 'LL 'r 'v".split(" "),
    "  ",
    " the",
    "ing",
    "<|endoftext|>",
    "\r\n",
  ];
  const anyCharacter = () => {
    for (;;) {
      const codePoint = below(pick([0x80, 0x800, 0x3000, 0x10000, 0x20000, 0x110000]));
      const character = String.fromCodePoint(codePoint);
      if (!isSurrogate(codePoint) && inEngine[codePoint] === classHere(character)) return character;
    }
  };
  const anyText = () => {
    const share = next(); // of pieces, which make words; the rest is any character
    return Array.from({ length: below(60) }, () => (next() < share ? pick(pieces) : anyCharacter())).join("");
  };

  it(`random texts have the same ids in JavaScript (seed ${seed})`, () => {
    const inputs = Array.from({ length: texts }, anyText);
    const { stdout, stderr } = spawnSync(tool, ["tokenize", folder, "--lines"], {
      input: inputs.map((text) => `${JSON.stringify(text)}\n`).join(""),
      encoding: "utf8",
      maxBuffer: 1 << 28,
    });
    expect(stderr).toBe("");
    const answers = stdout.trim().split("\n");
    const plain = new PlainTokenizer();
    expect(answers.length).toBe(texts);
    for (const [i, text] of inputs.entries())
      expect(JSON.parse(answers[i] ?? ""), text).toEqual(plain.encode(text));
  });
});
