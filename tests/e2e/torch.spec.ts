// Models in files of torch.save alone, compared in a page with the same models in model.safetensors.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test, type Page } from "@playwright/test";
import { StandInHub } from "../weights_tools/stand-in-hub.js";
import { inPage, native, root } from "./model.js";

const data = join(root, "tests/data/torch");
const read = (names: readonly string[]) =>
  Object.fromEntries(names.map((name) => [name, readFileSync(join(data, name))]));
const shardNames = ["pytorch_model-00001-of-00002.bin", "pytorch_model-00002-of-00002.bin"];
const whole = { "pytorch_model.bin": readFileSync(join(data, "zip.bin")) };
const expected = (): number[] =>
  native("generate", data, "--ids", "1,2,3", "--json", "--max-new-tokens", "4", "--temperature", "0").ids;

/** The text, and the number of downloaded bytes. */
const write = (page: Page, source: string, options: object) =>
  inPage(
    page,
    async ({ loadModel }, [id, load]) => {
      const counted = { loaded: 0, total: 0 };
      const model = await loadModel(id, {
        variant: "simd",
        cache: false,
        ...load,
        onProgress: ({ loadedBytes, totalBytes }) => {
          Object.assign(counted, { loaded: loadedBytes, total: totalBytes });
        },
      });
      const { tokens } = await model.complete([1, 2, 3], { maxNewTokens: 4, temperature: 0 });
      await model.dispose();
      return { ids: tokens.map(({ id: token }) => token), ...counted };
    },
    [source, options] as const,
  );

/** Bytes of the weights among `files`. */
const weightBytes = (files: Record<string, Buffer>) =>
  Object.entries(files).reduce((sum, [name, { length }]) => sum + (name.endsWith(".bin") ? length : 0), 0);

test.beforeEach(({ page }) => page.goto("./?model=none"));

test("several PyTorch files of the Hub write what model.safetensors writes, and the progress counts every byte once", async ({
  page,
}) => {
  const hub = new StandInHub();
  const origin = await hub.start();
  try {
    hub.files = read(["config.json", ...shardNames, "pytorch_model.bin.index.json"]);
    const bytes = weightBytes(hub.files);
    expect(await write(page, "user/tale", { hub: origin })).toEqual({
      ids: expected(),
      loaded: bytes,
      total: bytes,
    });
  } finally {
    hub.stop();
  }
});

test("a PyTorch file loads from a folder", async ({ page }) => {
  const files: Record<string, Buffer> = { ...read(["config.json"]), ...whole };
  await page.route("**/torch/**", (route) => {
    const body = files[new URL(route.request().url()).pathname.split("/").at(-1) ?? ""];
    return body ? route.fulfill({ body }) : route.fulfill({ status: 404 });
  });
  const bytes = weightBytes(files);
  expect(await write(page, "torch/", {})).toEqual({ ids: expected(), loaded: bytes, total: bytes });
});
