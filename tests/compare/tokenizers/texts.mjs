// Texts from a fixed seed, with every kind of character that tokenizers treat differently.
import { readFileSync } from "node:fs";
import { join } from "node:path";

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

/** Parts of tokenizers, and of texts. */
export const parts = JSON.parse(readFileSync(join(import.meta.dirname, "parts.json"), "utf8"));
/** `ranges` are those of code points, each with its end. */
const { spaces, words, ranges } = parts.texts;

/**
 * `count` texts, each of up to 40 parts. `own` are parts beside the usual ones, such as added tokens.
 * @param {Random} random
 * @param {number} count
 * @param {readonly string[]} own
 */
export function randomTexts({ next, below, pick }, count, own) {
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
      text += at < ownShare ? pick(own) : at < wordShare ? pick(words) : anyCharacter();
      if (next() < spaceShare) text += next() < 0.8 ? " " : pick(spaces);
    }
    return text;
  });
}
