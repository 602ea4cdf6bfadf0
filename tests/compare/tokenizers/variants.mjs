// Variants of tokenizer.json: one for each rule in parts.json, and random mixtures of them.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../../../engine/toolchain/build.mjs";
import { parts, randomTexts } from "./texts.mjs";

/** @typedef {import("./texts.mjs").Random} Random */
/**
 * @typedef {object} Variant
 * @property {string} name
 * @property {Record<string, unknown>} json tokenizer.json, as `tokenizers` reads it.
 * @property {Record<string, string | Buffer> | undefined} [files] What this engine reads in its place.
 * @property {string[]} [own] Parts of texts.
 */

/** An added token. */
export const added = (content, id, flags = {}) => {
  const none = { single_word: false, lstrip: false, rstrip: false, normalized: false };
  return { id, content, ...none, special: true, ...flags };
};
/** Adds tokens before and after a text; `ids` has their ids. @param {Record<string, number>} ids */
export function template(before, after, ids) {
  const sequence = (id, type_id) => ({ Sequence: { id, type_id } });
  const tokens = (list) => list.map((id) => ({ SpecialToken: { id, type_id: 0 } }));
  return {
    type: "TemplateProcessing",
    single: [...tokens(before), sequence("A", 0), ...tokens(after)],
    pair: [sequence("A", 0), sequence("B", 1)],
    special_tokens: Object.fromEntries(
      Object.entries(ids).map(([token, id]) => [token, { id: token, ids: [id], tokens: [token] }]),
    ),
  };
}

/** @returns {Variant} */
export function variant(name, changes) {
  const nothing = { normalizer: null, pre_tokenizer: null, post_processor: null, decoder: null };
  const start = { version: "1.0", truncation: null, padding: null, added_tokens: [] };
  const json = { ...start, ...nothing, ...changes };
  return { name, json, own: json.added_tokens.map(({ content }) => content) };
}

/** GPT-2's vocabulary with its first 3,000 merges. */
function gpt2Model() {
  const read = (name) => readFileSync(join(root, "tests/data/gpt2-tokenizer", name), "utf8");
  const isMerge = (/** @type {string} */ line) => line !== "" && !line.startsWith("#version");
  const merges = read("merges.txt").split("\n").filter(isMerge).slice(0, 3000);
  const all = Object.entries(JSON.parse(read("vocab.json")));
  const vocab = Object.fromEntries(all.filter(([, id]) => id < 256 + merges.length));
  return { type: "BPE", dropout: null, unk_token: null, continuing_subword_prefix: "", vocab, merges };
}

/**
 * Random added tokens. Those of the vocabulary keep their ids, the others get the next ones.
 * @param {Random} random
 * @param {Record<string, number>} vocab
 */
function randomAdded({ next }, vocab) {
  const contents = "<|im_start|>,<|im_end|>,ing,é, a ,的,Hello,o\u0301,<a>,<a><b>,LL,\n,ㄱ,hello".split(",");
  let free = Object.keys(vocab).length;
  const tokens = contents
    .filter(() => next() < 0.4)
    .map((content) =>
      added(content, vocab[content] ?? free++, {
        single_word: next() < 0.3,
        // Two tokens of white space that strip it could overlap, and `tokenizers` would panic, too.
        lstrip: content.trim() === content && next() < 0.3,
        rstrip: next() < 0.3,
        // A token that is stripped to nothing would match everywhere, and `tokenizers` would panic.
        normalized: content.trim() !== "" && next() < 0.4,
        special: next() < 0.5,
      }),
    );
  return tokens.sort((a, b) => a.id - b.id);
}

/**
 * Variants with byte pairs: one for each rule, and `mixtures` of them.
 * @param {Random} random
 * @param {number} mixtures
 */
export function byteLevelVariants({ next, pick, ...random }, mixtures) {
  const model = gpt2Model();
  const byteLevel = (add_prefix_space = false, use_regex = true) => ({
    ...{ type: "ByteLevel", trim_offsets: true },
    ...{ add_prefix_space, use_regex },
  });
  const inTurn = (/** @type {unknown[]} */ ...pretokenizers) => ({ type: "Sequence", pretokenizers });
  const ends = { post_processor: byteLevel(), decoder: byteLevel() };
  const bytes = (name, changes) => variant(name, { pre_tokenizer: byteLevel(), ...ends, model, ...changes });
  const expressions = Object.entries(parts.expressions).map(([name, Regex]) => [
    name,
    { type: "Split", pattern: { Regex }, behavior: "Isolated", invert: false },
  ]);
  const splitters = { ...parts.splitters, ...Object.fromEntries(expressions) };
  const ignoring = { ...model, ignore_merges: true, merges: model.merges.slice(0, 300) };
  const one = [
    ...Object.entries(parts.byteLevel).map(([name, changes]) => bytes(name, changes)),
    bytes("ignore_merges", { model: ignoring }),
    ...Object.entries(parts.normalizers).map(([name, normalizer]) => bytes(name, { normalizer })),
    ...Object.entries(splitters).map(([name, step]) =>
      bytes(name, { pre_tokenizer: inTurn(step, byteLevel()) }),
    ),
  ];
  const mixed = Array.from({ length: mixtures }, (_, i) => {
    const added_tokens = randomAdded({ next, pick, ...random }, model.vocab);
    const normalizers = Object.values(parts.normalizers).filter(() => next() < 0.12);
    const steps = Object.values(splitters).filter(() => next() < 0.08);
    const last = byteLevel(next() < 0.4, next() < 0.7);
    const changes = { added_tokens, model: { ...model, ignore_merges: next() < 0.3 } };
    if (normalizers.length > 0 || next() < 0.5)
      Object.assign(changes, { normalizer: { type: "Sequence", normalizers } });
    const pre_tokenizer = steps.length === 0 && next() < 0.5 ? last : inTurn(...steps, last);
    if (added_tokens.length > 0 && next() < 0.2) {
      const { id, content } = pick(added_tokens);
      const some = (share) => (next() < share ? [content] : []);
      Object.assign(changes, { post_processor: template(some(0.7), some(0.4), { [content]: id }) });
    }
    return bytes(`mixture ${i + 1}`, { ...changes, pre_tokenizer });
  });
  return [...one, ...mixed];
}

/** The parts of texts that `cut` gives, the most frequent first. */
export function frequent(texts, cut) {
  const counts = new Map();
  for (const text of texts) for (const part of cut(text)) counts.set(part, (counts.get(part) ?? 0) + 1);
  return [...counts].sort((a, b) => b[1] - a[1]).map(([part]) => part);
}

/** Variants with other models. @param {Random} random */
export function otherVariants(random) {
  const texts = randomTexts(random, 3000, ["[MASK]"]);
  const words = frequent(texts, (text) => text.split(/(\s|\p{P})/u))
    .filter((part) => part.trim() !== "")
    .slice(0, 800);
  const characters = frequent(texts, Array.from).slice(0, 1500);
  const part = (text, from, to = Infinity) => Array.from(text).slice(from, to).join("");
  const idsOf = (tokens) => Object.fromEntries([...new Set(tokens)].map((token, id) => [token, id]));

  const levels = idsOf(["[UNK]", "[PAD]", ...words.slice(0, 300)]);
  const firstTokens = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"];
  const lower = [...words, ...characters].map((word) => word.toLowerCase());
  const starts = [...firstTokens, ...words.slice(0, 200), ...lower, ...characters.slice(0, 700)];
  const inner = [...characters, ...words.slice(0, 100).map((word) => part(word, 1))].filter(Boolean);
  const pieces = idsOf([...starts, ...inner.map((letters) => `##${letters}`)]);
  const byteTokens = Array.from(
    { length: 256 },
    (_, i) => `<0x${i.toString(16).toUpperCase().padStart(2, "0")}>`,
  );
  const subwords = words.flatMap((word) => [word, `▁${word}`, `▁${part(word, 0, 2)}`, part(word, 1, 4)]);
  const unigram = (own, byte_fallback) => {
    const first = ["<unk>", "<s>", "</s>", ...own];
    const tokens = new Set([...first, "▁", ...subwords.filter(Boolean), ...characters.slice(0, 900)]);
    const vocab = [...tokens].map((token, i) => [
      token,
      i < first.length ? 0 : -1 - Math.fround(random.next() * 12),
    ]);
    return {
      model: { type: "Unigram", unk_id: 0, vocab, byte_fallback },
      added_tokens: first.slice(0, 3).map((token, id) => added(token, id)),
      decoder: { type: "Metaspace", replacement: "▁", prepend_scheme: "always", split: true },
    };
  };
  const bases = {
    wordLevel: {
      model: { type: "WordLevel", vocab: levels, unk_token: "[UNK]" },
      added_tokens: [
        added("[UNK]", 0),
        added("[PAD]", 1),
        added("hello", Object.keys(levels).length, { normalized: true }),
      ],
    },
    wordPiece: {
      model: {
        ...{ type: "WordPiece", unk_token: "[UNK]", continuing_subword_prefix: "##" },
        ...{ max_input_chars_per_word: 20, vocab: pieces },
      },
      added_tokens: firstTokens.map((token, id) => added(token, id)),
      pre_tokenizer: { type: "BertPreTokenizer" },
      post_processor: template(["[CLS]"], ["[SEP]"], { "[CLS]": 2, "[SEP]": 3 }),
      decoder: { type: "WordPiece", prefix: "##", cleanup: true },
    },
    unigram: unigram([], false),
    unigramBytes: unigram(byteTokens, true),
  };
  return Object.entries(parts.others).map(([name, { base, ...changes }]) =>
    variant(name, { ...bases[base], ...changes }),
  );
}
