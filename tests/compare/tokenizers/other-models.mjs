// Variants of tokenizer.json with other models than byte pairs.
import { randomTexts } from "./texts.mjs";

/** @typedef {import("./texts.mjs").Random} Random */
/** @typedef {import("./byte-level.mjs").Variant} Variant */

const whole = {
  version: "1.0",
  truncation: null,
  padding: null,
  normalizer: null,
  pre_tokenizer: null,
  post_processor: null,
  decoder: null,
};
/** @param {string} content @param {number} id */
const special = (content, id, normalized = false) => ({
  id,
  content,
  single_word: false,
  lstrip: false,
  rstrip: false,
  normalized,
  special: true,
});
/** @param {readonly string[]} tokens */
const idsOf = (tokens) => Object.fromEntries(tokens.map((token, id) => [token, id]));

/** The parts of texts that `cut` gives, the most frequent first. */
function frequent(texts, cut, count) {
  const counts = new Map();
  for (const text of texts) for (const part of cut(text)) counts.set(part, (counts.get(part) ?? 0) + 1);
  return [...counts]
    .sort((a, b) => b[1] - a[1])
    .slice(0, count)
    .map(([part]) => part);
}

/** Some characters of a text. */
const part = (/** @type {string} */ text, from, to = Infinity) => Array.from(text).slice(from, to).join("");

/** @param {boolean} lowercase @param {boolean | null} strip_accents */
const bertNormalizer = (lowercase, strip_accents = null, clean_text = true, handle_chinese_chars = true) => ({
  type: "BertNormalizer",
  clean_text,
  handle_chinese_chars,
  strip_accents,
  lowercase,
});
/** [CLS] and [SEP] around the text. */
const bertEnds = {
  type: "TemplateProcessing",
  single: [
    { SpecialToken: { id: "[CLS]", type_id: 0 } },
    { Sequence: { id: "A", type_id: 0 } },
    { SpecialToken: { id: "[SEP]", type_id: 0 } },
  ],
  pair: [{ Sequence: { id: "A", type_id: 0 } }, { Sequence: { id: "B", type_id: 1 } }],
  special_tokens: {
    "[CLS]": { id: "[CLS]", ids: [2], tokens: ["[CLS]"] },
    "[SEP]": { id: "[SEP]", ids: [3], tokens: ["[SEP]"] },
  },
};
const metaspace = (prepend_scheme = "always", split = true) => ({
  type: "Metaspace",
  replacement: "▁",
  prepend_scheme,
  split,
});

/**
 * @param {Random} random
 * @returns {Variant[]}
 */
export function otherVariants(random) {
  const texts = randomTexts(random, 3000, ["[MASK]"]);
  const cutWords = (/** @type {string} */ text) =>
    text.split(/(\s|\p{P})/u).filter((part) => part.trim() !== "");
  const words = frequent(texts, cutWords, 800);
  const characters = frequent(texts, (text) => Array.from(text), 1500);
  const lower = [...words, ...characters].map((word) => word.toLowerCase());

  const levels = idsOf(["[UNK]", "[PAD]", ...new Set(words.slice(0, 300))]);
  const wordLevel = { type: "WordLevel", vocab: levels, unk_token: "[UNK]" };
  const firstTokens = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"];
  const starts = new Set([...firstTokens, ...words.slice(0, 200), ...lower, ...characters.slice(0, 700)]);
  const inner = [...characters, ...words.slice(0, 100).map((word) => part(word, 1))];
  const pieces = [...starts, ...new Set(inner.filter((part) => part !== "").map((part) => `##${part}`))];
  const wordPiece = {
    type: "WordPiece",
    unk_token: "[UNK]",
    continuing_subword_prefix: "##",
    max_input_chars_per_word: 20,
    vocab: idsOf([...new Set(pieces)]),
  };
  const bertTokens = firstTokens.map((token, id) => special(token, id));
  const pieceDecoder = { type: "WordPiece", prefix: "##", cleanup: true };

  const bytes = Array.from({ length: 256 }, (_, i) => `<0x${i.toString(16).toUpperCase().padStart(2, "0")}>`);
  const subwords = words.flatMap((word) => [word, `▁${word}`, `▁${part(word, 0, 2)}`, part(word, 1, 4)]);
  const unigramTokens = (own) => [
    ...new Set(
      ["<unk>", "<s>", "</s>", ...own, "▁", ...subwords, ...characters.slice(0, 900)].filter(Boolean),
    ),
  ];
  const scored = (own) =>
    unigramTokens(own).map((token, i) => [
      token,
      i < 3 + own.length ? 0 : -1 - Math.fround(random.next() * 12),
    ]);
  const unigram = (own, byte_fallback) => ({ type: "Unigram", unk_id: 0, vocab: scored(own), byte_fallback });
  const unigramSpecials = ["<unk>", "<s>", "</s>"].map((token, id) => special(token, id));
  const fallbackDecoder = {
    type: "Sequence",
    decoders: [
      { type: "Replace", pattern: { String: "▁" }, content: " " },
      { type: "ByteFallback" },
      { type: "Fuse" },
      { type: "Strip", content: " ", start: 1, stop: 0 },
    ],
  };
  /** @returns {Variant} */
  const variant = (name, parts) => {
    const json = { ...whole, added_tokens: [], ...parts };
    return { name, json, own: json.added_tokens.map(({ content }) => content) };
  };
  const bert = {
    model: wordPiece,
    added_tokens: bertTokens,
    decoder: pieceDecoder,
    post_processor: bertEnds,
  };
  const cut = { type: "BertPreTokenizer" };
  const spm = { added_tokens: unigramSpecials, decoder: metaspace() };
  return [
    variant("WordLevel of white space", { model: wordLevel, pre_tokenizer: { type: "WhitespaceSplit" } }),
    variant("WordLevel of words", {
      model: wordLevel,
      pre_tokenizer: { type: "Whitespace" },
      normalizer: { type: "Lowercase" },
      added_tokens: [
        special("[UNK]", 0),
        special("[PAD]", 1),
        special("hello", Object.keys(levels).length, true),
      ],
    }),
    variant("WordLevel of a delimiter", {
      model: wordLevel,
      pre_tokenizer: { type: "CharDelimiterSplit", delimiter: "e" },
    }),
    variant("WordPiece, cased", { ...bert, normalizer: bertNormalizer(false), pre_tokenizer: cut }),
    variant("WordPiece, lower case", { ...bert, normalizer: bertNormalizer(true), pre_tokenizer: cut }),
    variant("WordPiece, unclean", {
      ...bert,
      normalizer: bertNormalizer(true, false, false, false),
      pre_tokenizer: cut,
    }),
    variant("WordPiece by BertProcessing", {
      ...bert,
      normalizer: bertNormalizer(false, true),
      pre_tokenizer: cut,
      post_processor: { type: "BertProcessing", sep: ["[SEP]", 3], cls: ["[CLS]", 2] },
      decoder: { ...pieceDecoder, cleanup: false },
    }),
    variant("Unigram", { ...spm, model: unigram([], false), pre_tokenizer: metaspace() }),
    variant("Unigram, one piece", {
      ...spm,
      model: unigram([], false),
      pre_tokenizer: metaspace("always", false),
    }),
    variant("Unigram, first", {
      ...spm,
      model: unigram([], false),
      normalizer: { type: "NFKC" },
      pre_tokenizer: metaspace("first"),
      decoder: metaspace("first"),
    }),
    variant("Unigram with bytes", {
      ...spm,
      model: unigram(bytes, true),
      pre_tokenizer: metaspace("never"),
      decoder: metaspace("never"),
    }),
    variant("Unigram with bytes, decoded", {
      ...spm,
      model: unigram(bytes, true),
      normalizer: {
        type: "Sequence",
        normalizers: [
          { type: "Prepend", prepend: "▁" },
          { type: "Replace", pattern: { String: " " }, content: "▁" },
        ],
      },
      decoder: fallbackDecoder,
    }),
  ];
}
