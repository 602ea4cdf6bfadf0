// Models whose tokenizer has other rules than GPT-2's, in a page. Only they load the module for such tokenizers, and
// they write the native tool's text.
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, test, type Page } from "@playwright/test";
import { pieceTypes, sentencePieceFile } from "../support/sentence-piece.mjs";
import { hub, inFolder, origin, useHub } from "./hub.js";
import { inPage, native, root } from "./model.js";

const tied = resolve(root, "tests/data/tiny-models/tied");
const letters = Array.from("abcdefghijklmnopqrstuvwxyz");
const chinese = Array.from("天地玄黃宇宙洪荒日月盈昃辰宿列張");

/** A vocabulary like BERT's. */
const wordPieces = [
  "[PAD]",
  "[UNK]",
  "[CLS]",
  "[SEP]",
  ...chinese,
  ...letters,
  ...letters.map((each) => `##${each}`),
];
/** A SentencePiece file; of another letter it has the bytes in UTF-8. */
const spiece = sentencePieceFile(
  [
    ["<unk>", 0, pieceTypes.unknown],
    ["▁", -3],
    ...[...letters, ...chinese].map((each, i): [string, number] => [each, -4 - i / 16]),
    ...["<0xC3>", "<0xA9>"].map((each): [string, number, number] => [each, 0, pieceTypes.byte]),
  ],
  { model_type: 1, byte_fallback: true },
);

/** Each kind: the file that it is in, a prompt, and what the prompt's tokens decode to. */
const kinds: { name: string; file: string; content: string | Buffer; prompt: string; decoded: string }[] = [
  {
    name: "WordPiece",
    file: "vocab.txt",
    content: `${wordPieces.join("\n")}\n`,
    prompt: "天地 Abc玄黃",
    decoded: "[CLS] 天 地 abc 玄 黃 [SEP]",
  },
  {
    name: "SentencePiece",
    file: "spiece.model",
    content: spiece,
    prompt: "天地  abc é",
    decoded: "天地 abc é",
  },
];

useHub();

/** Puts the model with the file `name` on the hub, and returns what the native tool writes from that. */
function give(name: string, content: string | Buffer, prompt: string) {
  for (const file of ["config.json", "model.safetensors"]) hub.files[file] = readFileSync(join(tied, file));
  hub.files[name] = Buffer.from(content);
  const call = ["--json", "--max-new-tokens", "12", "--temperature", "0"];
  return inFolder((folder) => native("generate", folder, "--prompt", prompt, ...call));
}

const write = (page: Page, prompt: string, module = "gpt2.js") =>
  inPage(
    page,
    async (_, [base, text, name]) => {
      const { loadModel } = (await import(new URL(name, location.href).href)) as typeof _;
      const model = await loadModel("user/tale", { hub: base, cache: false, variant: "simd" });
      const { tokens, text: written } = await model.complete(text, { maxNewTokens: 12, temperature: 0 });
      const prompt = await model.tokenize(text);
      const whole = {
        ids: tokens.map(({ id }) => id),
        text: written,
        pieces: tokens.map((token) => token.text),
      };
      const beyond = await model.detokenize([model.info.config.vocabSize - 1]); // a row without a token
      const decoded = await model.detokenize(prompt);
      const result = { ...whole, decoded, beyond, warnings: model.info.warnings };
      await model.dispose();
      return result;
    },
    [origin, prompt, module] as const,
  );

for (const { name, file, content, prompt, decoded } of kinds) {
  test(`a model with a ${name} tokenizer writes what the native tool writes`, async ({ page }) => {
    const expected = give(file, content, prompt);
    const asked: string[] = [];
    page.on("request", (request) => asked.push(new URL(request.url()).pathname));
    const found = await write(page, prompt);
    expect(found.ids).toEqual(expected.ids);
    expect(found.pieces.join("")).toBe(found.text);
    expect(found.decoded).toBe(decoded);
    expect(found.beyond).toBe("");
    expect(found.warnings.join()).toContain("heal has no effect");
    const other = asked.filter((path) => path.endsWith("/gpt2-languages.js"));
    expect(other).toHaveLength(1);
  });
}

test("a module in one file loads the tokenizers from its own folder, and an error names that folder", async ({
  page,
}) => {
  const [{ file, content, prompt }] = kinds as [(typeof kinds)[0]];
  const expected = give(file, content, prompt);
  expect((await write(page, prompt, "gpt2.bundle.js")).ids).toEqual(expected.ids);
  await page.reload();
  await page.route("**/gpt2-languages.js", (route) => route.fulfill({ status: 404 }));
  const address = new URL("gpt2-languages.js", page.url()).href;
  await expect(write(page, prompt, "gpt2.bundle.js")).rejects.toThrow(`cannot be loaded from ${address}`);
});

test("a model with GPT-2's tokenizer does not fetch the module for others", async ({ page }) => {
  const asked: string[] = [];
  page.on("request", (request) => asked.push(new URL(request.url()).pathname));
  await inPage(page, async ({ loadModel }) => (await loadModel("models/demo/")).dispose(), undefined);
  expect(asked.some((path) => path.endsWith("/gpt2-worker.js"))).toBe(true);
  expect(asked.some((path) => /languages|convert/.test(path))).toBe(false);
});
