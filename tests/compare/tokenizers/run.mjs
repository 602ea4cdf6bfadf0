// `npm run compare:tokenizers`: this engine's token ids and texts against those of Hugging Face's `tokenizers`, the Rust
// library, from npm. Installs it into build/peers, so this is no part of `npm test`.
//
//     npm run compare:tokenizers -- [--texts=20000] [--mixtures=20] [--seed=1] [--only=PART OF A NAME]
import { spawnSync } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { root } from "../../../engine/toolchain/build.mjs";
import { installTokenizers } from "../../bench/peers/install.mjs";
import { sentencePieceVariants } from "./sentence-piece.mjs";
import { randomTexts, seededRandom } from "./texts.mjs";
import { byteLevelVariants, otherVariants } from "./variants.mjs";

const { Tokenizer } = createRequire(import.meta.url)(installTokenizers());
const tool = join(root, "build/native/weights_tools/gpt2-weights");
const folder = join(root, "build/compare-tokenizers");

/** @param {string[]} args @param {readonly unknown[]} lines @returns {unknown[]} */
function ask(args, lines) {
  const input = lines.map((line) => `${JSON.stringify(line)}\n`).join("");
  const { status, stdout, stderr } = spawnSync(tool, args, { input, encoding: "utf8", maxBuffer: 1 << 30 });
  if (status !== 0) throw new Error(stderr.trim());
  return stdout
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
}

/**
 * The texts whose ids, or whose decoded texts, differ.
 * @param {import("./variants.mjs").Variant} variant
 * @param {string[]} texts
 */
async function differences({ json, files }, texts) {
  const text = JSON.stringify(json);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  for (const [name, content] of Object.entries(files ?? { "tokenizer.json": text }))
    writeFileSync(join(folder, name), content);
  const theirs = Tokenizer.fromString(text);
  const encodings = await theirs.encodeBatch(texts, { addSpecialTokens: true });
  const theirIds = encodings.map((encoding) => encoding.getIds());
  const theirTexts = await theirs.decodeBatch(theirIds, false);
  const ids = ask(["tokenize", folder, "--lines", "--allow-special"], texts);
  const decoded = ask(["detokenize", folder, "--lines"], theirIds);
  const isSame = (a, b) => JSON.stringify(a) === JSON.stringify(b);
  return texts.flatMap((input, i) => {
    if (!isSame(ids[i], theirIds[i]))
      return [{ input, ours: ids[i], theirs: theirIds[i], tokens: encodings[i].getTokens() }];
    return isSame(decoded[i], theirTexts[i]) ? [] : [{ input, ours: decoded[i], theirs: theirTexts[i] }];
  });
}

const number = { type: /** @type {const} */ ("string") };
const options = { texts: number, mixtures: number, seed: number };
const given = parseArgs({ options: { ...options, only: { type: "string" } } }).values;
const [count, mixtures] = [Number(given.texts ?? 20_000), Number(given.mixtures ?? 20)];
const random = seededRandom(Number(given.seed ?? 1));
const variants = [
  ...otherVariants(random),
  ...sentencePieceVariants(random),
  ...byteLevelVariants(random, mixtures),
];
let wrong = 0;
for (const variant of variants) {
  const texts = randomTexts(random, count, [...(variant.own ?? []), "<|endoftext|>"]);
  if (!variant.name.includes(given.only ?? "")) continue;
  const found = await differences(variant, texts);
  console.log(`${variant.name}: ${found.length} of ${texts.length} differ`);
  if (found.length === 0) continue;
  wrong += 1;
  found.sort((a, b) => a.input.length - b.input.length);
  for (const one of found.slice(0, 3)) console.log(`  ${JSON.stringify(one)}`);
}
console.log(`${variants.length - wrong} of ${variants.length} variants are equal`);
process.exitCode = wrong === 0 ? 0 : 1;
