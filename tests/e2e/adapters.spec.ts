// A LoRA adapter in a page: merged while the model downloads, and stored as merged.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { expect, test, type Page } from "@playwright/test";
import { filesOf, makeAdapter } from "../web/support/adapter.js";
import { readSafetensors } from "../web/support/safetensors.js";
import { hub, origin, useHub } from "./hub.js";
import { inPage, native, root } from "./model.js";

const tied = resolve(root, "tests/data/tiny-models/tied");
const scratch = mkdtempSync(join(tmpdir(), "gpt2-adapters-"));
test.afterAll(() => rmSync(scratch, { recursive: true }));

useHub();
test.beforeEach(() => {
  for (const name of ["config.json", "model.safetensors"]) hub.files[name] = readFileSync(join(tied, name));
  const adapter = makeAdapter(readSafetensors(readFileSync(join(tied, "model.safetensors"))), 1);
  // Its values are larger than usual, so that the text changes.
  for (const [name, bytes] of Object.entries(
    filesOf({ ...adapter, config: { ...adapter.config, lora_alpha: 8 } }),
  )) {
    hub.files[name] = bytes;
    writeFileSync(join(scratch, name), bytes);
  }
});

const natively = (...adapter: string[]): number[] =>
  native(
    ...["generate", tied, ...adapter, "--ids", "1,2,3", "--json"],
    ...["--max-new-tokens", "12", "--temperature", "0"],
  ).ids;

/** The text, the ids of stored models, and the number of requests for weights. */
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
  const options = { adapter: { source: "user/lora", weight: 0.5 } };
  const expected = natively("--adapter", `${scratch}=0.5`);
  expect(expected).not.toEqual(natively());
  const first = await write(page, options);
  expect(first).toMatchObject({ ids: expected, stored: [first.source] });
  expect(first.source).toContain(`${origin}/user/lora@main`);
  expect(first.tensors).toBeGreaterThan(0);
  await page.reload();
  expect(await write(page, options)).toEqual({ ...first, tensors: 0 });
  expect((await write(page, {})).ids).toEqual(natively()); // the merged model is not used for the plain one
});
