// Texts from a fixed seed, with every kind of character that tokenizers treat differently.

// Mulberry32 (Tommy Ettinger, 2017).
/** @param {number} seed */
export function seededRandom(seed) {
  const next = () => {
    seed = (seed + 0x6d2b79f5) | 0;
    let t = Math.imul(seed ^ (seed >>> 15), seed | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (/** @type {number} */ count) => Math.floor(next() * count);
  /** @template T @param {readonly T[]} values @returns {T} */
  const pick = (values) => /** @type {T} */ (values[below(values.length)]);
  return { next, below, pick };
}

/** @typedef {ReturnType<typeof seededRandom>} Random */

const spaces = [
  ...Array.from(" \n\t\r\u00a0\u2028\u2029\u205f\u3000\u0085\u2003\u1680"),
  "  ",
  "\r\n",
  "\n\n",
  " \n ",
];
const words =
  "the ing Hello WORLD Straße İstanbul naïve o\u0301ver it's I'LL don't we're 're 's 'S x123 2024 3.14 ½ ٣٤ Ⅷ über ﬁne ＡＢＣ ｶﾞ 한국어 \u1112\u1161\u11ab 日本語 中文字 ไทย हिन्दी العربية עברית Ελλάς ΣΑΣ Привет 🙂 👩‍👩‍👧 🇩🇪 a_b ##ing [UNK] ▁a <0x41> http://a.b/c?d=e";
const ranges = [
  [0, 0x20],
  [0x20, 0x80],
  [0x80, 0x250],
  [0x250, 0x600],
  [0x300, 0x370],
  [0x600, 0xe00],
  [0xe00, 0x2000],
  [0x2000, 0x2c00],
  [0x3000, 0x3400],
  [0x4e00, 0xa000],
  [0xa000, 0xd800],
  [0xe000, 0x10000],
  [0x10000, 0x20000],
  [0x1d400, 0x1f700],
  [0x20000, 0x30000],
  [0xe0000, 0xe0200],
];

/**
 * `count` texts, each of up to 40 parts. `own` are parts beside the usual ones, such as added tokens.
 * @param {Random} random
 * @param {number} count
 * @param {readonly string[]} own
 */
export function randomTexts({ next, below, pick }, count, own) {
  const wordList = words.split(" ");
  const anyCharacter = () => {
    const [first = 0, end = 0] = pick(ranges);
    const codePoint = first + below(end - first);
    return codePoint >= 0xd800 && codePoint < 0xe000 ? "?" : String.fromCodePoint(codePoint);
  };
  return Array.from({ length: count }, () => {
    const ownShare = next() * 0.3;
    const wordShare = ownShare + next() * (1 - ownShare);
    const spaceShare = next();
    let text = "";
    for (let parts = below(40); parts > 0; --parts) {
      const at = next();
      text += at < ownShare ? pick(own) : at < wordShare ? pick(wordList) : anyCharacter();
      if (next() < spaceShare) text += next() < 0.8 ? " " : pick(spaces);
    }
    return text;
  });
}
