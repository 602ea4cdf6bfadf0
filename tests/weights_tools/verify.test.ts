// `gpt2-weights verify` on models that are not released ones, with GPT-2's own tokenizer.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { filesFrom, folderOf, json, scratch, tiny, vocabulary, weights } from "./tool.js";

interface Report {
  passed: number;
  failed: number;
  not_applicable: number;
  facts: { verdict: string; fact: string; expected: string; found: string; source: string }[];
}

/** A tiny model with GPT-2's own vocabulary. */
function model(name: string): string {
  const config = JSON.parse(readFileSync(join(tiny, "tied/config.json"), "utf8")) as object;
  const shape = { ...config, n_embd: 8, n_head: 2, n_layer: 1, vocab_size: 50257 };
  const file = join(folderOf({ "config.json": JSON.stringify(shape) }), "config.json");
  json(["random", file, join(scratch, name), "--weights", "f32", "--json"]);
  return folderOf(filesFrom(vocabulary, "vocab.json", "merges.txt"), name);
}

it("verify checks the tokenizer's facts, and applies no facts of other models", () => {
  const { status, stdout, stderr } = weights(["verify", model("other"), "--json"]);
  expect(status).toBe(1);
  expect(stderr).toMatch(/differs from the published results: 1 of \d+ facts failed\n$/);
  const { passed, failed, not_applicable: skipped, facts } = JSON.parse(stdout) as Report;
  expect([passed, failed, skipped]).toEqual([5, 1, 11]);
  expect(facts[0]).toMatchObject({
    verdict: "failed",
    fact: "release",
    found: "1 layers, 2 heads, width 8, context 48, vocabulary 50257",
  });
  const greedy = facts.find(({ fact }) => fact.includes("Alan Turing"));
  expect(greedy).toMatchObject({ verdict: "not applicable", found: "the fact is about GPT-2 124M only" });
  expect(greedy?.source).toContain("picoGPT");
});

it("verify also prints all facts as lines", () => {
  const { stdout } = weights(["verify", join(scratch, "other")]);
  expect(stdout).toMatch(/^failed {9}release\n {15}expected one of GPT-2 124M, GPT-2 355M/);
  expect(stdout).toMatch(/\n5 passed, 1 failed, 11 not applicable\n$/);
});
