// Weights that are finite, but so large that the logits are not.
import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { refusal, scratch, tiny, weights } from "./tool.js";

/** A copy of the tiny model with every value of one tensor (F32) replaced. */
function modelWith(tensor: string, value: number): string {
  const folder = join(scratch, `huge-${tensor}`);
  cpSync(join(tiny, "tied"), folder, { recursive: true });
  const path = join(folder, "model.safetensors");
  const file = readFileSync(path);
  const start = 8 + Number(file.readBigUInt64LE());
  const header = JSON.parse(file.toString("utf8", 8, start));
  const [begin, end] = header[tensor].data_offsets as [number, number];
  for (let at = start + begin; at < start + end; at += 4) file.writeFloatLE(value, at);
  writeFileSync(path, file);
  return folder;
}

describe("logits that are not finite", () => {
  const folder = modelWith("h.1.mlp.c_fc.weight", 3e38);

  it.each([
    ["generate", "--json", "--ids", "5,17,40,3"],
    ["trace", "--ids", "5,17,40,3"],
  ])("logits that are not finite are an error of %s", (command, ...args) => {
    const stderr = refusal(weights([command, folder, ...args]));
    expect(stderr).toMatch(/the logits after position \d \(token id \d+\) are not finite/);
    expect(stderr).toContain('likely cause is tensor "h.1.mlp.c_fc.weight"');
  });
});
