// Variants of a byte-level tokenizer.json: one for each rule that the engine reads, and random mixtures of them.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../../../engine/toolchain/build.mjs";

/** @typedef {import("./texts.mjs").Random} Random */
/**
 * @typedef {object} Variant
 * @property {string} name
 * @property {Record<string, unknown>} json tokenizer.json, as `tokenizers` reads it.
 * @property {Record<string, string | Buffer> | undefined} [files] What this engine reads in its place.
 * @property {string[]} [own] Parts of texts.
 */

const gpt2Pattern = "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+";

/** GPT-2's vocabulary with its first 3,000 merges. */
function gpt2Model() {
  const folder = join(root, "tests/data/gpt2-tokenizer");
  const merges = readFileSync(join(folder, "merges.txt"), "utf8")
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("#version"))
    .slice(0, 3000);
  const all = JSON.parse(readFileSync(join(folder, "vocab.json"), "utf8"));
  const vocab = Object.fromEntries(Object.entries(all).filter(([, id]) => id < 256 + merges.length));
  return { type: "BPE", dropout: null, unk_token: null, continuing_subword_prefix: "", vocab, merges };
}

const byteLevel = (add_prefix_space = false, use_regex = true) => ({
  type: "ByteLevel",
  add_prefix_space,
  trim_offsets: true,
  use_regex,
});
/** @param {string} Regex */
const split = (Regex, behavior = "Isolated", invert = false) => ({
  type: "Split",
  pattern: { Regex },
  behavior,
  invert,
});
/** The expressions of families of byte-level tokenizers, as llama.cpp distinguishes them. */
const expressions = {
  "Llama 3's expression":
    "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+",
  "llama.cpp's for Llama 3":
    "(?:'[sS]|'[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD])|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+",
  "Qwen 2's expression":
    "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+",
  "BLOOM's expression": " ?[^(\\s|[.,!?…。，、।۔،])]+".replace("[.,", ".,").replace("])", ")"),
  "a single digit": "\\p{N}",
  "DeepSeek's Chinese": "[一-龥ࠀ-一가-퟿]+",
  "DeepSeek's marks": "\\s?[!-/:-~！-／：-～‘-‟　-。]+",
  "runs of three digits": "[0-9]{3}|\\p{N}{2,}(?=\\s)",
};

/** @param {unknown[]} pretokenizers */
const inTurn = (...pretokenizers) => ({ type: "Sequence", pretokenizers });
/** @param {unknown[]} normalizers */
const normalizing = (...normalizers) => ({ type: "Sequence", normalizers });
/** @param {string} String @param {string} content */
const replacing = (String, content) => ({ type: "Replace", pattern: { String }, content });

const normalizers = {
  Prepend: { type: "Prepend", prepend: "▁" },
  Replace: replacing(" ", "▁"),
  "Replace of more": replacing("the", "a cat"),
  Strip: { type: "Strip", strip_left: true, strip_right: true },
  "Strip left": { type: "Strip", strip_left: true, strip_right: false },
  NFC: { type: "NFC" },
  NFD: { type: "NFD" },
  NFKC: { type: "NFKC" },
  NFKD: { type: "NFKD" },
  Lowercase: { type: "Lowercase" },
  StripAccents: { type: "StripAccents" },
  "Replace of an expression": { type: "Replace", pattern: { Regex: " {2,}|\\n+" }, content: " " },
};

const splitters = {
  Digits: { type: "Digits", individual_digits: false },
  "single Digits": { type: "Digits", individual_digits: true },
  "Split by a text": { type: "Split", pattern: { String: "th" }, behavior: "Isolated", invert: false },
  "Split, MergedWithPrevious": split("\\s", "MergedWithPrevious"),
  "Split, MergedWithNext": split("\\s", "MergedWithNext"),
  "Split, Contiguous": split("\\s", "Contiguous"),
  "Split, Removed": split("[aeiou ]", "Removed"),
  "Split, inverted": split("[^ ]+", "Removed", true),
  Punctuation: { type: "Punctuation", behavior: "Isolated" },
  Whitespace: { type: "Whitespace" },
  WhitespaceSplit: { type: "WhitespaceSplit" },
  BertPreTokenizer: { type: "BertPreTokenizer" },
  ...Object.fromEntries(Object.entries(expressions).map(([name, regex]) => [name, split(regex)])),
};

/**
 * Random added tokens. Those of the vocabulary keep their ids, the others get the next ones.
 * @param {Random} random
 * @param {Record<string, number>} vocab
 */
function randomAdded({ next }, vocab) {
  const contents = "<|im_start|>,<|im_end|>,ing,é, a ,的,Hello,o\u0301,<a>,<a><b>,LL,\n,ㄱ,hello".split(",");
  let free = Object.keys(vocab).length;
  return contents
    .filter(() => next() < 0.4)
    .map((content) => ({
      id: vocab[content] ?? free++,
      content,
      single_word: next() < 0.3,
      // Two tokens of white space that strip it could overlap, and `tokenizers` would panic, too.
      lstrip: content.trim() === content && next() < 0.3,
      rstrip: next() < 0.3,
      // A token that is stripped to nothing would match everywhere, and `tokenizers` would panic.
      normalized: content.trim() !== "" && next() < 0.4,
      special: next() < 0.5,
    }))
    .sort((a, b) => a.id - b.id);
}

/**
 * @param {Random} random
 * @param {{ id: number, content: string }[]} added
 */
function randomTemplate({ next, pick }, added) {
  if (added.length === 0 || next() < 0.6) return byteLevel();
  const { id, content } = pick(added);
  const token = { SpecialToken: { id: content, type_id: 0 } };
  const text = { Sequence: { id: "A", type_id: 0 } };
  return {
    type: "TemplateProcessing",
    single: [...(next() < 0.7 ? [token] : []), text, ...(next() < 0.4 ? [token] : [])],
    pair: [text, { Sequence: { id: "B", type_id: 1 } }],
    special_tokens: { [content]: { id: content, ids: [id], tokens: [content] } },
  };
}

/**
 * One variant for each rule, and `mixtures` of them.
 * @param {Random} random
 * @param {number} mixtures
 * @returns {Variant[]}
 */
export function byteLevelVariants(random, mixtures) {
  const { next, pick, below } = random;
  const model = gpt2Model();
  /** @returns {Variant} */
  const variant = (name, parts) => {
    const added = parts.added_tokens ?? [];
    const json = {
      version: "1.0",
      truncation: null,
      padding: null,
      added_tokens: added,
      normalizer: null,
      pre_tokenizer: byteLevel(),
      post_processor: byteLevel(),
      decoder: byteLevel(),
      model,
      ...parts,
    };
    return { name, json, own: added.map(({ content }) => content) };
  };
  const one = [
    variant("GPT-2", {}),
    variant("add_prefix_space", { pre_tokenizer: byteLevel(true) }),
    variant("use_regex: false", { pre_tokenizer: byteLevel(false, false) }),
    variant("both", { pre_tokenizer: byteLevel(true, false) }),
    variant("ignore_merges", {
      model: { ...model, ignore_merges: true, merges: model.merges.slice(0, 300) },
    }),
    variant("Split by GPT-2's expression", {
      pre_tokenizer: inTurn(split(gpt2Pattern), byteLevel(false, false)),
    }),
    variant("Split by it, inverted", {
      pre_tokenizer: inTurn(split(gpt2Pattern, "Removed", true), byteLevel(false, false)),
    }),
    ...Object.entries(normalizers).map(([name, normalizer]) => variant(name, { normalizer })),
    ...Object.entries(splitters).map(([name, step]) =>
      variant(name, { pre_tokenizer: inTurn(step, byteLevel()) }),
    ),
  ];
  const mixed = Array.from({ length: mixtures }, (_, i) => {
    const added_tokens = randomAdded(random, model.vocab);
    const some = Object.values(normalizers).filter(() => next() < 0.12);
    const steps = Object.values(splitters).filter(() => next() < 0.08);
    const last = byteLevel(next() < 0.4, next() < 0.7);
    return variant(`mixture ${i + 1}`, {
      added_tokens,
      normalizer: some.length === 0 && below(2) === 0 ? null : normalizing(...some),
      pre_tokenizer: steps.length === 0 && below(2) === 0 ? last : inTurn(...steps, last),
      post_processor: pick([byteLevel(), randomTemplate(random, added_tokens)]),
      model: { ...model, ignore_merges: next() < 0.3 },
    });
  });
  return [...one, ...mixed];
}
