// A GPT-BigCode in a page: it writes the same as the native tool, and fills the gap between two texts.
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, test } from "@playwright/test";
import { hub, inFolder, origin, useHub } from "./hub.js";
import { inPage, native, root } from "./model.js";

const folder = resolve(root, "tests/data/tiny-models/bigcode-one-key-head");
const letters = Array.from("abcdefghijklmnopqrstuvwxyz()=_:<>-");
const call = ["--json", "--max-new-tokens", "6", "--temperature", "0"];

/** A tokenizer like StarCoder's. Its last tokens mark a gap. */
function tokenizer(marks: readonly string[]) {
  const tokens = ["<|endoftext|>", "Ġ", "Ċ", "re", "Ġre", ...Array.from("0123456789"), ...letters];
  return {
    added_tokens: ["<|endoftext|>", ...marks].map((content, i) => ({
      id: i === 0 ? 0 : tokens.length + i - 1,
      content,
      special: true,
    })),
    pre_tokenizer: {
      type: "Sequence",
      pretokenizers: [
        { type: "Digits", individual_digits: true },
        { type: "ByteLevel", add_prefix_space: false },
      ],
    },
    decoder: { type: "ByteLevel" },
    model: {
      type: "BPE",
      vocab: Object.fromEntries(tokens.map((token, id) => [token, id])),
      merges: ["r e", "Ġ re"],
    },
  };
}

useHub();

/** Puts the model on the hub, and returns the result of `use` with its folder. */
function give<T>(marks: readonly string[], use: (folder: string) => T): T {
  for (const file of ["config.json", "model.safetensors"]) hub.files[file] = readFileSync(join(folder, file));
  hub.files["tokenizer.json"] = Buffer.from(JSON.stringify(tokenizer(marks)));
  return inFolder(use);
}

test("model.fill fills the gap with the model's tokens for gaps", async ({ page }) => {
  const marks = ["prefix", "suffix", "middle"].map((part) => `<fim_${part}>`);
  const [before, after] = ["x1 re", " b\n"];
  const prompt = `${marks[0]}${before}${marks[1]}${after}${marks[2]}`;
  const expected = give(marks, (copy) =>
    native("generate", copy, "--prompt", prompt, "--allow-special", "--ignore-eos", ...call),
  );
  const found = await inPage(
    page,
    async ({ loadModel }, [base, first, second]) => {
      const model = await loadModel("user/code", { hub: base, cache: false });
      const filled = await model.fill(first, second, {
        maxNewTokens: 6,
        temperature: 0,
        ignoreEos: true,
      });
      const tooLong = await model
        .fill("ab".repeat(20), "", { maxNewTokens: 1 })
        .catch((error: Error) => error.message);
      const { nHead, numKeyValueHeads } = model.info.config;
      const { warnings } = model.info;
      await model.dispose();
      return {
        ids: filled.tokens.map(({ id }) => id),
        text: filled.text,
        tooLong,
        nHead,
        numKeyValueHeads,
        warnings,
      };
    },
    [origin, before, after] as const,
  );
  expect(found).toMatchObject({
    ids: expected.ids,
    text: expected.text,
    nHead: 3,
    numKeyValueHeads: 1,
  });
  expect(found.warnings.join()).not.toContain("config.json");
  expect(found.tooLong).toContain("context");
});
