// Models of every kind, in a page: each writes what the native tool writes, and loads no more code than it needs.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { expect, test, type Page } from "@playwright/test";
import { pieceTypes, sentencePieceFile } from "../support/sentence-piece.mjs";
import { filesOf, makeAdapter } from "../web/support/adapter.js";
import { ggufMetadata, ggufTensors, writeGguf } from "../web/support/gguf.js";
import { readSafetensors } from "../web/support/safetensors.js";
import { give, hub, inFolder, natively, origin, useHub, write } from "./hub.js";
import { inPage, native, root } from "./model.js";

const tied = resolve(root, "tests/data/tiny-models/tied");
const torch = resolve(root, "tests/data/torch");
const shards = ["pytorch_model-00001-of-00002.bin", "pytorch_model-00002-of-00002.bin"];
const letters = Array.from("abcdefghijklmnopqrstuvwxyz");
const chinese = Array.from("天地玄黃宇宙洪荒日月盈昃辰宿列張");
const ids = ["--ids", "1,2,3"];

/** A vocabulary like BERT's. */
const wordPieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", ...chinese, ...letters].concat(
  letters.map((each) => `##${each}`),
);
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

useHub();

/** The paths that `page` requests from now on. */
function watchPaths(page: Page): string[] {
  const asked: string[] = [];
  page.on("request", (request) => asked.push(new URL(request.url()).pathname));
  return asked;
}

/** Each kind of tokenizer: the file that it is in, a prompt, and what the prompt's tokens decode to. */
const tokenizers = {
  WordPiece: {
    ...{ file: "vocab.txt", content: `${wordPieces.join("\n")}\n` },
    ...{ prompt: "天地 Abc玄黃", decoded: "[CLS] 天 地 abc 玄 黃 [SEP]" },
  },
  SentencePiece: {
    ...{ file: "spiece.model", content: spiece },
    ...{ prompt: "天地  abc é", decoded: "天地 abc é" },
  },
};

/** Puts a model with that tokenizer on the hub, and returns what the native tool writes. */
function giveTokenizer({
  file,
  content,
  prompt,
}: {
  file: string;
  content: string | Buffer;
  prompt: string;
}) {
  give(tied, ["config.json", "model.safetensors"]);
  hub.files[file] = Buffer.from(content);
  return inFolder((folder) => natively(folder, "--prompt", prompt));
}

for (const [name, kind] of Object.entries(tokenizers)) {
  test(`a model with a ${name} tokenizer writes what the native tool writes`, async ({ page }) => {
    const expected = giveTokenizer(kind);
    const asked = watchPaths(page);
    const found = await write(page, "user/tale", {}, kind.prompt);
    expect(found.ids).toEqual(expected);
    expect(found.pieces.join("")).toBe(found.text);
    expect(found.decoded).toBe(kind.decoded);
    expect(found.beyond).toBe(""); // a row without a token
    expect(found.info.warnings.join()).toContain("heal has no effect");
    expect(asked.filter((path) => path.endsWith("/gpt2-languages.js"))).toHaveLength(1);
  });
}

test("a module in one file loads the tokenizers from its own folder, and an error names that folder", async ({
  page,
}) => {
  const kind = tokenizers.WordPiece;
  const expected = giveTokenizer(kind);
  const fromBundle = () => write(page, "user/tale", {}, kind.prompt, "gpt2.bundle.js");
  expect((await fromBundle()).ids).toEqual(expected);
  await page.reload();
  await page.route("**/gpt2-languages.js", (route) => route.fulfill({ status: 404 }));
  const address = new URL("gpt2-languages.js", page.url()).href;
  await expect(fromBundle()).rejects.toThrow(`cannot be loaded from ${address}`);
});

test("a model with GPT-2's tokenizer does not fetch the module for others", async ({ page }) => {
  const asked = watchPaths(page);
  await inPage(page, async ({ loadModel }) => (await loadModel("models/demo/")).dispose(), undefined);
  expect(asked.some((path) => path.endsWith("/gpt2-worker.js"))).toBe(true);
  expect(asked.some((path) => /languages|convert/.test(path))).toBe(false);
});

test("several PyTorch files of the Hub write what the native tool writes, and the progress counts every byte once", async ({
  page,
}) => {
  give(torch, ["config.json", ...shards, "pytorch_model.bin.index.json"]);
  const bytes = shards.reduce((sum, name) => sum + readFileSync(join(torch, name)).length, 0);
  const found = await write(page, "user/tale");
  expect([found.ids, found.bytes]).toEqual([natively(torch, ...ids), { loaded: bytes, total: bytes }]);
});

test("a GGUF file from the Hub or an address gives the same model", async ({ page }) => {
  const config = JSON.parse(readFileSync(join(tied, "config.json"), "utf8"));
  const tensors = readSafetensors(readFileSync(join(tied, "model.safetensors")));
  const gguf = writeGguf(
    ggufMetadata(config),
    ggufTensors(tensors, () => "F32"),
  );
  hub.files["tied.gguf"] = gguf;
  const expected = natively(tied, ...ids);
  expect((await write(page, "user/tied-GGUF/tied.gguf")).ids).toEqual(expected);
  await page.route("**/models/tied.gguf", (route) => route.fulfill({ body: gguf }));
  expect((await write(page, "models/tied.gguf", { hub: undefined })).ids).toEqual(expected);
  // This repository has only GGUF files, and the id names none of them.
  await expect(write(page, "user/tied-GGUF")).rejects.toThrow(
    "not-found: user/tied-GGUF has no model.safetensors, but tied.gguf: ",
  );
});

test("an adapter from the Hub changes the text as natively, and the second visit downloads neither model nor adapter", async ({
  page,
}) => {
  give(tied, ["config.json", "model.safetensors"]);
  const adapter = makeAdapter(readSafetensors(readFileSync(join(tied, "model.safetensors"))), 1);
  // Its values are larger than usual, so that the text changes.
  const files = filesOf({ ...adapter, config: { ...adapter.config, lora_alpha: 8 } });
  Object.assign(hub.files, files);
  const folder = mkdtempSync(join(tmpdir(), "gpt2-adapters-"));
  for (const [name, bytes] of Object.entries(files)) writeFileSync(join(folder, name), bytes);
  const [plain, merged] = [natively(tied, ...ids), natively(tied, "--adapter", `${folder}=0.5`, ...ids)];
  rmSync(folder, { recursive: true });
  expect(merged).not.toEqual(plain);

  const visit = async (load: object) => {
    hub.asked.length = 0;
    const { ids, info } = await write(page, "hf:user/tied", { cache: true, ...load });
    const tensors = hub.asked.filter(({ path }) => path.endsWith(".safetensors")).length;
    return { ids, source: info.source, tensors };
  };
  const withAdapter = { adapter: { source: "user/lora", weight: 0.5 } };
  const first = await visit(withAdapter);
  expect(first.ids).toEqual(merged);
  expect(first.source).toContain(`${origin}/user/lora@main`);
  expect(first.tensors).toBeGreaterThan(0);
  const stored = await inPage(page, ({ listModels }) => listModels(), undefined);
  expect(stored.map(({ id }) => id)).toEqual([first.source]);
  await page.reload();
  expect(await visit(withAdapter)).toEqual({ ...first, tensors: 0 });
  expect((await visit({})).ids).toEqual(plain); // the merged model is not used for the plain one
});

/** A tokenizer like StarCoder's. Its last tokens mark a gap. */
function codeTokenizer(marks: readonly string[]) {
  const signs = Array.from("0123456789()=_:<>-");
  const tokens = ["<|endoftext|>", "Ġ", "Ċ", "re", "Ġre", ...signs, ...letters];
  const special = ["<|endoftext|>", ...marks].map((content, i) => ({
    id: i === 0 ? 0 : tokens.length + i - 1,
    content,
    special: true,
  }));
  const pretokenizers = [
    { type: "Digits", individual_digits: true },
    { type: "ByteLevel", add_prefix_space: false },
  ];
  return {
    added_tokens: special,
    pre_tokenizer: { type: "Sequence", pretokenizers },
    decoder: { type: "ByteLevel" },
    model: {
      type: "BPE",
      vocab: Object.fromEntries(tokens.map((token, id) => [token, id])),
      merges: ["r e", "Ġ re"],
    },
  };
}

test("model.fill of a GPT-BigCode fills the gap with the model's tokens for gaps", async ({ page }) => {
  const marks = ["prefix", "suffix", "middle"].map((part) => `<fim_${part}>`);
  const [before, after] = ["x1 re", " b\n"];
  give(resolve(root, "tests/data/tiny-models/bigcode-one-key-head"), ["config.json", "model.safetensors"]);
  hub.files["tokenizer.json"] = Buffer.from(JSON.stringify(codeTokenizer(marks)));
  const prompt = `${marks[0]}${before}${marks[1]}${after}${marks[2]}`;
  const call = ["--json", "--max-new-tokens", "6", "--temperature", "0"];
  const expected = inFolder((folder) =>
    native("generate", folder, "--prompt", prompt, "--allow-special", "--ignore-eos", ...call),
  );
  const found = await inPage(
    page,
    async ({ loadModel }, [base, first, second]) => {
      const model = await loadModel("user/code", { hub: base, cache: false });
      const options = { maxNewTokens: 6, temperature: 0, ignoreEos: true };
      const { tokens, text } = await model.fill(first, second, options);
      const tooLong = await model
        .fill("ab".repeat(20), "", { maxNewTokens: 1 })
        .catch((error: Error) => error.message);
      const { config, warnings } = model.info;
      await model.dispose();
      return { ids: tokens.map(({ id }) => id), text, tooLong, config, warnings };
    },
    [origin, before, after] as const,
  );
  expect(found).toMatchObject({ ids: expected.ids, text: expected.text });
  expect(found.config).toMatchObject({ nHead: 3, numKeyValueHeads: 1 });
  expect(found.warnings.join()).not.toContain("config.json");
  expect(found.tooLong).toContain("context");
});
