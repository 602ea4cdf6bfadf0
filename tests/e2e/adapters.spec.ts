// LoRA adapters in a page: merged while the model downloads, stored as merged, and never taken for another model.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { expect, test, type Page } from "@playwright/test";
import { filesOf, makeAdapter } from "../web/support/adapter.js";
import { readSafetensors } from "../web/support/safetensors.js";
import { hub, origin, useHub } from "./hub.js";
import { inPage, native, root } from "./model.js";

const tied = resolve(root, "tests/data/tiny-models/tied");
const tensors = readSafetensors(readFileSync(join(tied, "model.safetensors")));
const scratch = mkdtempSync(join(tmpdir(), "gpt2-adapters-"));
test.afterAll(() => rmSync(scratch, { recursive: true }));

useHub();
test.beforeEach(() => {
  for (const name of ["config.json", "model.safetensors"]) hub.files[name] = readFileSync(join(tied, name));
  Object.assign(hub.files, adapterOf(1));
});

/** An adapter whose values depend on `seed`. They are larger than usual, so that the text changes. */
function adapterOf(seed: number): Record<string, Buffer> {
  const adapter = makeAdapter(tensors, seed);
  return filesOf({ ...adapter, config: { ...adapter.config, lora_alpha: 8 } });
}

/** What the native tool writes with the adapter of `seed`, `weight` times, or without one. */
function natively(seed?: number, weight = 1): number[] {
  if (seed !== undefined) {
    for (const [name, bytes] of Object.entries(adapterOf(seed))) writeFileSync(join(scratch, name), bytes);
  }
  const adapter = seed === undefined ? [] : ["--adapter", `${scratch}=${weight}`];
  return native(
    "generate",
    tied,
    ...adapter,
    ...["--ids", "1,2,3", "--json", "--max-new-tokens", "12", "--temperature", "0"],
  ).ids;
}

/** The text, the ids of stored models, and the files that were requested from the hub. */
async function write(page: Page, options: object) {
  hub.asked.length = 0;
  const said = await inPage(
    page,
    async ({ loadModel, listModels }, load) => {
      const model = await loadModel("hf:user/tied", { variant: "simd", ...load });
      const { tokens } = await model.complete([1, 2, 3], { maxNewTokens: 12, temperature: 0 });
      await model.dispose();
      const stored = (await listModels()).map(({ id }) => id);
      return { ids: tokens.map(({ id }) => id), source: model.info.source, stored };
    },
    { hub: origin, ...options },
  );
  return { ...said, tensors: hub.asked.filter(({ path }) => path.endsWith(".safetensors")).length };
}

test("an adapter from the Hub changes the text as natively, and the second visit downloads neither model nor adapter", async ({
  page,
}) => {
  expect(natively(1)).not.toEqual(natively());
  const id = `${origin}/user/tied@main + ${origin}/user/lora@main`;
  const first = await write(page, { adapter: "user/lora" });
  expect(first).toMatchObject({ ids: natively(1), source: id, stored: [id] });
  expect(first.tensors).toBeGreaterThan(0);
  await page.reload();
  expect(await write(page, { adapter: "user/lora" })).toEqual({ ...first, tensors: 0 });
});

test("a merged model is stored under its adapter and weight, and never used for another", async ({
  page,
}) => {
  await write(page, { adapter: "user/lora" });
  const half = await write(page, { adapter: { source: "user/lora", weight: 0.5 } });
  expect(half.ids).toEqual(natively(1, 0.5));
  const plain = await write(page, {});
  expect(plain.ids).toEqual(natively());
  expect(plain.stored).toHaveLength(3);
  expect((await write(page, { adapter: "user/lora" })).ids).toEqual(natively(1));
});
