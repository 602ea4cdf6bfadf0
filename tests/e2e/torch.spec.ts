// A model in files of torch.save alone, compared in a page with the same model in model.safetensors.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "@playwright/test";
import { hub, origin, useHub } from "./hub.js";
import { inPage, native, root } from "./model.js";

const data = join(root, "tests/data/torch");
const shards = ["pytorch_model-00001-of-00002.bin", "pytorch_model-00002-of-00002.bin"];
const read = (name: string) => readFileSync(join(data, name));

useHub();

test("several PyTorch files of the Hub write what model.safetensors writes, and the progress counts every byte once", async ({
  page,
}) => {
  for (const name of ["config.json", ...shards, "pytorch_model.bin.index.json"]) hub.files[name] = read(name);
  const found = await inPage(
    page,
    async ({ loadModel }, base) => {
      const counted = { loaded: 0, total: 0 };
      const model = await loadModel("user/tale", {
        variant: "simd",
        cache: false,
        hub: base,
        onProgress: ({ loadedBytes, totalBytes }) => {
          Object.assign(counted, { loaded: loadedBytes, total: totalBytes });
        },
      });
      const { tokens } = await model.complete([1, 2, 3], { maxNewTokens: 4, temperature: 0 });
      await model.dispose();
      return { ids: tokens.map(({ id }) => id), ...counted };
    },
    origin,
  );
  const bytes = shards.reduce((sum, name) => sum + read(name).length, 0);
  const call = ["--ids", "1,2,3", "--json", "--max-new-tokens", "4", "--temperature", "0"];
  expect(found).toEqual({ ids: native("generate", data, ...call).ids, loaded: bytes, total: bytes });
});
