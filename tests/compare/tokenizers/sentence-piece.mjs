// SentencePiece files, and the tokenizer.json that transformers' conversion makes of them (SpmConverter and T5Converter in
// convert_slow_tokenizer.py of release 4.57).
import { charsmap, pieceTypes, sentencePieceFile } from "../../support/sentence-piece.mjs";
import { randomTexts } from "./texts.mjs";
import { added, frequent, template, variant } from "./variants.mjs";

const space = "▁";

/** Rules like those of nmt_nfkc: compatibility characters, composed ones, spaces of all kinds, controls that are removed. */
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
    if (codePoint < 0x20) rules.set(letter, "");
  }
  for (const letter of "\t\n\v\f\r\u00a0\u1680\u2003\u2028\u2029\u205f\u3000\u200b") rules.set(letter, " ");
  for (const letter of "\u007f\u200e\u200f\u2060\ufeff\u00ad") rules.set(letter, "");
  return [...rules];
}

/** Pieces of up to three characters of the words of `texts`. */
function partsOf(text) {
  return text
    .normalize("NFKC")
    .split(/\s/)
    .flatMap((word) => {
      const letters = Array.from(word);
      const cut = (at, length) => letters.slice(at, at + length).join("");
      const cuts = letters.flatMap((_, at) =>
        at % 3 === 0 ? [cut(at, 3), `${at === 0 ? space : ""}${cut(at, 2)}`] : [],
      );
      return [...letters, ...cuts];
    });
}

/**
 * @param {import("./texts.mjs").Random} random
 * @returns {import("./variants.mjs").Variant[]}
 */
export function sentencePieceVariants(random) {
  const map = charsmap(nfkcRules());
  const specials = ["<s>", "</s>", "[PAD]", "[CLS]", "[SEP]", "[MASK]"];
  const symbols = ["<user>", "日本"];
  const head = ["<unk>", ...specials, ...symbols];
  const texts = randomTexts(random, 3000, ["日本", "東京", "ＡＢＣ"]);
  const normal = frequent(texts, partsOf).filter((part) => ![...head, space].includes(part));
  const typeOf = (at) =>
    at === 0 ? pieceTypes.unknown : at <= specials.length ? pieceTypes.control : pieceTypes.userDefined;
  const pieces = /** @type {any[]} */ ([
    ...head.map((text, at) => [text, 0, typeOf(at)]),
    ...[space, ...normal.slice(0, 2500)].map((text) => [text, -Math.fround(2 + random.next() * 10)]),
  ]);
  const make = (
    name,
    {
      config,
      normalizers = /** @type {object[]} */ ([]),
      extra = 0,
      scheme = "always",
      hasMap = true,
      ...rest
    },
  ) => {
    const { file = "spiece.model", ...parts } = rest;
    const extras = Array.from({ length: extra }, (_, i) => `<extra_id_${extra - 1 - i}>`);
    const vocab = [...pieces.map(([text, score]) => [text, score]), ...extras.map((text) => [text, 0])];
    const metaspace = { type: "Metaspace", replacement: space, prepend_scheme: scheme, split: true };
    const steps = [
      ...normalizers,
      ...(hasMap ? [{ type: "Precompiled", precompiled_charsmap: map.toString("base64") }] : []),
      { type: "Strip", strip_left: false, strip_right: true },
      { type: "Replace", pattern: { Regex: " {2,}" }, content: space },
    ];
    const made = variant(name, {
      added_tokens: [
        ...head.map((text, id) => added(text, id, { special: !symbols.includes(text) })),
        ...extras.map((text, i) => added(text, pieces.length + i)),
      ],
      normalizer: { type: "Sequence", normalizers: steps },
      pre_tokenizer: metaspace,
      post_processor: template([], ["</s>"], { "</s>": 2 }),
      decoder: metaspace,
      model: { type: "Unigram", unk_id: 0, vocab, byte_fallback: false },
      ...parts,
    });
    const normalizer = hasMap ? { name: "nmt_nfkc", precompiled_charsmap: map } : { name: "identity" };
    const files = {
      [file]: sentencePieceFile(pieces, { model_type: 1, unk_id: 0 }, normalizer),
      "tokenizer_config.json": JSON.stringify(config),
    };
    return { ...made, files, own: [...(made.own ?? []), "ＡＢＣ", "e\u0301", "①\u0300"] };
  };
  const t5 = { tokenizer_class: "T5Tokenizer", eos_token: "</s>", unk_token: "<unk>", pad_token: "[PAD]" };
  const plain = { ...t5, extra_ids: 0 };
  const lower = { config: { ...plain, do_lower_case: true }, normalizers: [{ type: "Lowercase" }] };
  const reformer = { config: { tokenizer_class: "ReformerTokenizer" }, post_processor: null };
  return [
    { ...make("Precompiled in tokenizer.json", { config: {} }), files: undefined },
    make("SentencePiece, T5Tokenizer", { config: plain }),
    make("SentencePiece, do_lower_case", lower),
    make("SentencePiece, extra ids", { config: t5, extra: 100 }),
    make("SentencePiece, not legacy", { config: { ...plain, legacy: false }, scheme: "first" }),
    make("SentencePiece, no charsmap", { config: plain, hasMap: false }),
    make("SentencePiece, ReformerTokenizer", { ...reformer, file: "tokenizer.model" }),
  ];
}
