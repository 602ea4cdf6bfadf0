// `npm run compare:hub`: a small model of each kind that is published as GPT-2 is compared with float64, or refused.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { folderOf, root, tiny, weights } from "../weights_tools/tool.js";
import { readSafetensors } from "../web/support/safetensors.js";
import { forward64, type Config, type FloatTensor } from "./forward64.mjs";
import { safetensorsFile, seededTensors } from "./seeded-model.mjs";

/** How a kind differs from GPT-2. */
interface Kind {
  /** What config.json has in addition. */
  config?: Config;
  /** Shapes of tensors that the file has in addition. */
  more?: Record<string, number[]>;
  /** What is done to the tensors: a prefix for all, a copy of the tied head, or the head in the embedding's place. */
  change?: "prefix" | "store head" | "move head";
  /** The warning about a model that works. */
  warning?: string;
}
/** They have the names of the rows in docs/reference/models.md. */
const kindsFile = readFileSync(join(import.meta.dirname, "kinds.json"), "utf8");
const kinds = JSON.parse(kindsFile) as Record<string, Kind>;
const sizes = { n_embd: 32, n_head: 2, n_layer: 2, n_positions: 32, vocab_size: 60 };

/** float32 against float64 over two layers of width 32. */
const tolerance = 1e-4;
const ids = Array.from({ length: 24 }, (_, i) => (i * i * 3 + 7) % 60);

const largestDifference = (found: number[][], expected: number[][]) =>
  Math.max(
    ...expected.flatMap((row, at) => row.map((value, i) => Math.abs(value - (found[at]?.[i] ?? NaN)))),
  );

/** The rows of the first table of the document. */
const rows = readFileSync(join(root, "docs/reference/models.md"), "utf8")
  .split("| model | what is special | outcome |\n| --- | --- | --- |\n")[1]
  ?.split("\n\n")[0]
  ?.split("\n")
  .map((line) => line.slice(2, -2).split(" | "));

it("each row of the table in docs/reference/models.md is a kind that is compared", () => {
  expect(rows?.map(([model]) => model)).toEqual(Object.keys(kinds));
});

describe.each(rows ?? [])("%s (%s)", (model, special, outcome = "") => {
  const { config: changes = {}, more = {}, change, warning } = kinds[model] ?? {};
  const config = { model_type: "gpt2", ...sizes, ...changes };
  const original = seededTensors(config, model.length);
  const tensors = new Map(original);
  for (const [name, shape] of Object.entries(more)) {
    const values = Array.from({ length: shape.reduce((a, b) => a * b) }, (_, i) => Math.sin(i) / 3);
    tensors.set(name, { shape, values });
  }
  const embedding = original.get("wte.weight");
  if (change?.endsWith("head") && embedding) tensors.set("lm_head.weight", embedding);
  if (change === "move head") tensors.delete("wte.weight");
  for (const [name, value] of change === "prefix" ? [...tensors] : []) {
    tensors.delete(name);
    tensors.set(`transformer.${name}`, value);
  }
  const folder = folderOf({
    "config.json": JSON.stringify(config),
    "model.safetensors": safetensorsFile(tensors),
  });
  const run = (command: string, ...options: string[]) =>
    weights([command, folder, "--ids", ids.join(), "--weights", "f32", "--json", ...options]);

  if (outcome.startsWith("refused: ")) {
    it(`${model} (${special}) is refused by name`, () => {
      const { status, stderr } = run("trace");
      expect(stderr).toContain(outcome.replace("refused: ", ""));
      expect(status).toBe(1);
    });
    return;
  }

  it(`${model} (${special}) gives the logits and the text of the float64 reference`, () => {
    const logitsOf = (past: readonly number[]) =>
      forward64(config, new Map([...original, ...tensors]), past).logits;
    const { status, stdout, stderr } = run("trace");
    expect(outcome).toBe(warning === undefined ? "works" : "works, with a warning");
    expect(stderr).toEqual(warning === undefined ? "" : expect.stringContaining(warning));
    expect(status).toBe(0);
    const { logits } = JSON.parse(stdout) as { logits: number[][] };
    expect(largestDifference(logits, logitsOf(ids))).toBeLessThan(tolerance);

    const text = run("generate", "--temperature", "0", "--max-new-tokens", "8", "--ignore-eos");
    const { ids: written } = JSON.parse(text.stdout) as { ids: number[] };
    expect(written).toHaveLength(8);
    written.reduce((past, id) => {
      const last = logitsOf(past).at(-1) ?? [];
      expect(last[id]).toBeGreaterThan(Math.max(...last) - tolerance);
      return [...past, id];
    }, ids);
  });
});

/** The value of 16 bits of a half-precision float that is finite. */
function fromHalf(bits: number): number {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 31;
  const mantissa = bits & 1023;
  return sign * (exponent === 0 ? mantissa * 2 ** -24 : (1 + mantissa / 1024) * 2 ** (exponent - 15));
}

/** Their results in golden.json come from PyTorch; those of newer activations, of scales and of GPT-BigCode from float64. */
describe.each(readdirSync(tiny))("tests/data/tiny-models/%s", (name) => {
  it(`the float64 reference gives the results in golden.json of ${name}`, () => {
    const read = (file: string) => readFileSync(join(tiny, name, file));
    const config = JSON.parse(read("config.json").toString()) as Config;
    const golden = JSON.parse(read("golden.json").toString()) as {
      ids: number[];
      logits: number[][];
      trace: Record<string, number[][]>;
    };
    const tensors = new Map<string, FloatTensor>();
    for (const [tensor, { dtype, shape, bytes }] of readSafetensors(read("model.safetensors"))) {
      const { buffer } = new Uint8Array(bytes);
      const isHalf = dtype === "F16";
      const values = isHalf ? Float32Array.from(new Uint16Array(buffer), fromHalf) : new Float32Array(buffer);
      tensors.set(tensor, { shape, values });
    }
    const { logits, trace } = forward64(config, tensors, golden.ids);
    expect(largestDifference(logits, golden.logits)).toBeLessThan(1e-5);
    for (const [stage, expected] of Object.entries(golden.trace))
      expect(largestDifference(trace[stage] ?? [], expected), stage).toBeLessThan(1e-5);
  });
});
