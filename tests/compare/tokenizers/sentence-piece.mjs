// SentencePiece files, and the tokenizer.json that transformers' conversion makes of them (SpmConverter and T5Converter in
// convert_slow_tokenizer.py of release 4.57).
import { charsmap, pieceTypes, sentencePieceFile } from "../../support/sentence-piece.mjs";
import { randomTexts } from "./texts.mjs";

/** @typedef {import("./texts.mjs").Random} Random */
/** @typedef {import("./byte-level.mjs").Variant} Variant */
/** @typedef {readonly [text: string, score: number, type?: number]} Piece */

const space = "▁";
const replaceSpaces = { type: "Replace", pattern: { Regex: " {2,}" }, content: space };
const stripRight = { type: "Strip", strip_left: false, strip_right: true };
const metaspace = { type: "Metaspace", replacement: space, prepend_scheme: "always", split: true };

/** @param {string} content @param {number} id */
const added = (content, id, special = true) => ({
  id,
  content,
  single_word: false,
  lstrip: false,
  rstrip: false,
  normalized: false,
  special,
});

/**
 * Rules like those of nmt_nfkc: compatibility characters, composed ones, spaces of all kinds, controls that are removed.
 * @returns {import("../../support/sentence-piece.mjs").Rule[]}
 */
function nfkcRules() {
  /** @type {Map<string, string>} */
  const rules = new Map();
  for (let codePoint = 1; codePoint < 0x20000; ++codePoint) {
    if (codePoint >= 0xd800 && codePoint < 0xe000) continue;
    const letter = String.fromCodePoint(codePoint);
    const becomes = letter.normalize("NFKC");
    if (becomes !== letter) rules.set(letter, becomes);
    const parts = letter.normalize("NFD");
    if (parts !== letter && parts.normalize("NFC") === letter && codePoint < 0x3400) rules.set(parts, letter);
  }
  for (const letter of "\t\n\r\u00a0\u1680\u2003\u2028\u2029\u205f\u3000\u200b") rules.set(letter, " ");
  for (let code = 1; code < 0x20; ++code)
    if (!/\s/.test(String.fromCharCode(code))) rules.set(String.fromCharCode(code), "");
  for (const letter of "\u007f\u200e\u200f\u2060\ufeff\u00ad") rules.set(letter, "");
  return [...rules];
}

/** @param {Random} random @param {string[]} specials */
function seededPieces({ next }, texts, specials) {
  const normal = texts.flatMap((text) => text.normalize("NFKC").split(/\s/).filter(Boolean));
  const counts = new Map();
  const count = (/** @type {string} */ part) => part && counts.set(part, (counts.get(part) ?? 0) + 1);
  for (const word of normal) {
    const letters = Array.from(word);
    letters.forEach(count);
    for (let at = 0; at < letters.length; at += 3) {
      count(letters.slice(at, at + 3).join(""));
      count(`${at === 0 ? space : ""}${letters.slice(at, at + 2).join("")}`);
    }
  }
  const frequent = [...counts].sort((a, b) => b[1] - a[1]).map(([part]) => part);
  const known = new Set([...specials, "<unk>", space]);
  const parts = frequent.filter((part) => !known.has(part)).slice(0, 2500);
  return [space, ...parts].map((part) => /** @type {Piece} */ ([part, -Math.fround(2 + next() * 10)]));
}

/**
 * @param {Random} random
 * @returns {Variant[]}
 */
export function sentencePieceVariants(random) {
  const texts = randomTexts(random, 3000, ["日本", "東京", "ＡＢＣ"]);
  const map = charsmap(nfkcRules());
  const specials = ["<s>", "</s>", "[PAD]", "[CLS]", "[SEP]", "[MASK]"];
  const symbols = ["<user>", "日本"];
  /** @param {number} type @returns {(text: string) => Piece} */
  const ofType = (type) => (text) => [text, 0, type];
  const head = [
    ofType(pieceTypes.unknown)("<unk>"),
    ...specials.map(ofType(pieceTypes.control)),
    ...symbols.map(ofType(pieceTypes.userDefined)),
  ];
  const pieces = [...head, ...seededPieces(random, texts, [...specials, ...symbols])];
  const headAdded = [
    added("<unk>", 0),
    ...specials.map((text, i) => added(text, 1 + i)),
    ...symbols.map((text, i) => added(text, 1 + specials.length + i, false)),
  ];
  const precompiled = { type: "Precompiled", precompiled_charsmap: map.toString("base64") };
  const end = {
    type: "TemplateProcessing",
    single: [{ Sequence: { id: "A", type_id: 0 } }, { SpecialToken: { id: "</s>", type_id: 0 } }],
    pair: [{ Sequence: { id: "A", type_id: 0 } }, { Sequence: { id: "B", type_id: 1 } }],
    special_tokens: { "</s>": { id: "</s>", ids: [2], tokens: ["</s>"] } },
  };
  /**
   * @param {string} name
   * @param {{ config: Record<string, unknown>, normalizers?: object[], extra?: number, scheme?: string, hasMap?: boolean,
   *   trainer?: Record<string, boolean>, normalizer?: Record<string, boolean>, post_processor?: object | null,
   *   file?: string }} parts
   * @returns {Variant}
   */
  const variant = (name, parts) => {
    const { config, extra = 0, scheme = "always", hasMap = true, file = "spiece.model" } = parts;
    const extras = Array.from({ length: extra }, (_, i) => `<extra_id_${extra - 1 - i}>`);
    const vocab = [...pieces.map(([text, score]) => [text, score]), ...extras.map((text) => [text, 0])];
    const tokens = [...headAdded, ...extras.map((text, i) => added(text, pieces.length + i))];
    const json = {
      version: "1.0",
      truncation: null,
      padding: null,
      added_tokens: tokens,
      normalizer: {
        type: "Sequence",
        normalizers: [
          ...(parts.normalizers ?? []),
          ...(hasMap ? [precompiled] : []),
          stripRight,
          replaceSpaces,
        ],
      },
      pre_tokenizer: { ...metaspace, prepend_scheme: scheme },
      post_processor: parts.post_processor === undefined ? end : parts.post_processor,
      decoder: { ...metaspace, prepend_scheme: scheme },
      model: { type: "Unigram", unk_id: 0, vocab, byte_fallback: false },
    };
    const files = {
      [file]: sentencePieceFile(
        pieces,
        { model_type: 1, unk_id: 0, ...parts.trainer },
        hasMap ? { name: "nmt_nfkc", precompiled_charsmap: map } : { name: "identity" },
      ),
      "tokenizer_config.json": JSON.stringify(config),
    };
    return {
      name,
      json,
      files,
      own: [...tokens.map(({ content }) => content), "ＡＢＣ", "e\u0301", "①\u0300"],
    };
  };
  const t5 = { tokenizer_class: "T5Tokenizer", eos_token: "</s>", unk_token: "<unk>", pad_token: "[PAD]" };
  const json = variant("Precompiled in tokenizer.json", { config: {} });
  return [
    { ...json, files: undefined },
    variant("SentencePiece, T5Tokenizer", { config: { ...t5, extra_ids: 0 } }),
    variant("SentencePiece, do_lower_case", {
      config: { ...t5, extra_ids: 0, do_lower_case: true },
      normalizers: [{ type: "Lowercase" }],
    }),
    variant("SentencePiece, extra ids", { config: t5, extra: 100 }),
    variant("SentencePiece, not legacy", { config: { ...t5, extra_ids: 0, legacy: false }, scheme: "first" }),
    variant("SentencePiece, no charsmap", { config: { ...t5, extra_ids: 0 }, hasMap: false }),
    variant("SentencePiece, ReformerTokenizer", {
      config: { tokenizer_class: "ReformerTokenizer" },
      post_processor: null,
      file: "tokenizer.model",
    }),
  ];
}
