// `npm run compare:hub`: a small model of each kind that is published as GPT-2 is compared with float64, or refused.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { root, scratch, weights } from "../weights_tools/tool.js";
import { expectedLogits, rows, type Row } from "./rows.js";
import { safetensorsFile } from "./seeded-model.mjs";

/** float32 against float64 over two layers of width 32. */
const tolerance = 1e-4;
const ids = Array.from({ length: 24 }, (_, i) => (i * i * 3 + 7) % 60);

function writeModel({ config, tensors }: Row, number: number): string {
  const folder = join(scratch, `model-${number}`);
  mkdirSync(folder);
  writeFileSync(join(folder, "config.json"), JSON.stringify(config));
  writeFileSync(join(folder, "model.safetensors"), safetensorsFile(tensors));
  return folder;
}

const run = (command: string, folder: string, ...options: string[]) =>
  weights([command, folder, "--ids", ids.join(), "--weights", "f32", "--json", ...options]);

describe.each(rows.map((row, number) => ({ ...row, number })))("$model ($special)", (row) => {
  if (row.refusal !== undefined) {
    it("$model ($special) is refused by name", () => {
      const { status, stderr } = run("trace", writeModel(row, row.number));
      expect(stderr).toContain(row.refusal);
      expect(status).toBe(1);
    });
    return;
  }

  it("$model ($special) gives the logits and the text of the float64 reference", () => {
    const folder = writeModel(row, row.number);
    const { status, stdout, stderr } = run("trace", folder);
    expect(stderr).toEqual(row.warning === undefined ? "" : expect.stringContaining(row.warning));
    expect(status).toBe(0);
    const expected = expectedLogits(row, ids);
    const { logits } = JSON.parse(stdout) as { logits: number[][] };
    const differences = expected.flatMap((values, at) =>
      values.map((value, i) => Math.abs(value - (logits[at]?.[i] ?? NaN))),
    );
    expect(Math.max(...differences)).toBeLessThan(tolerance);

    const text = run("generate", folder, "--temperature", "0", "--max-new-tokens", "8", "--ignore-eos");
    const { ids: written } = JSON.parse(text.stdout) as { ids: number[] };
    expect(written).toHaveLength(8);
    written.reduce((past, id) => {
      const last = expectedLogits(row, past).at(-1) ?? [];
      expect(last[id]).toBeGreaterThan(Math.max(...last) - tolerance);
      return [...past, id];
    }, ids);
  });
});

it("each row of the results is in the table in docs/reference/models.md", () => {
  const table = readFileSync(join(root, "docs/reference/models.md"), "utf8");
  const expected = rows.map(({ model, special, refusal, warning }) => {
    const outcome =
      refusal !== undefined
        ? `refused: ${refusal}`
        : warning !== undefined
          ? "works, with a warning"
          : "works";
    return `| ${model} | ${special} | ${outcome} |`;
  });
  for (const line of expected) expect(table).toContain(line);
});
