// Errors from a chunk, which has its own copy of the classes, are instances of the module's exported classes.
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { expect, test } from "@playwright/test";
import { hashedCode } from "../../web/scripts/hash-files.mjs";
import { pack } from "../../web/scripts/pack.mjs";
import { FaultyHost } from "./faulty-host.js";
import { inPage, root } from "./model.js";
import { withTrap } from "./trap.js";

const host = new FaultyHost();
test.beforeAll(() => host.start());
test.afterAll(() => host.stop());
test.beforeEach(async ({ page }) => {
  host.fault = () => false;
  await page.goto(host.page);
});

test("an invalid or forbidden source throws one of the module's own error classes", async ({ page }) => {
  const found = await inPage(
    page,
    async ({ loadModel, Gpt2Error, InvalidArgumentError, LoadError }) => {
      const failureOf = async (source: unknown) => {
        const error = await loadModel(source as string).catch((thrown: unknown) => thrown);
        const kinds = [Gpt2Error, InvalidArgumentError, LoadError].map((kind) => error instanceof kind);
        return [...kinds, (error as Error).message];
      };
      const queryPermission = async () => "denied";
      return [
        await failureOf("hf:a/b/c"),
        await failureOf({ kind: "directory", name: "models", getFileHandle() {}, queryPermission }),
        await failureOf([new File(["{}"], "config.json")]),
        await failureOf([new File(["{}"], "config.json"), new File(["none at all"], "model.safetensors")]),
      ];
    },
    undefined,
  );
  expect(found).toEqual([
    [true, true, false, expect.stringContaining('the model\'s id is "hf:a/b/c"')],
    [true, false, true, expect.stringContaining('this page may not read "models"')],
    [true, false, true, expect.stringContaining("there is no model.safetensors among the files")],
    [true, false, true, expect.stringContaining('config.json: "n_embd" is missing')],
  ]);
});

test("a conversion that traps while its weights stream is not reported as a broken connection", async ({
  page,
}) => {
  const code = hashedCode(readFileSync(resolve(root, "build/wasm/engine/gpt2-convert.wasm")));
  const good = pack(code);
  const trapping = pack(Buffer.from(withTrap(code, "gpt2_converter_end")));
  const script = readFileSync(resolve(root, "web/dist/gpt2-convert.js"), "utf8")
    .replace(good.text, () => trapping.text)
    .replace(`size:${good.size}`, `size:${trapping.size}`);
  host.answer(/gpt2-convert\.js$/, (response) => {
    response.writeHead(200, { "Content-Type": "text/javascript" }).end(script);
  });
  const said = await inPage(
    page,
    async ({ loadModel, WorkerError }) => {
      const options = { variant: "simd", weights: "q4", cache: false } as const;
      const error = await loadModel("tied/", options).catch((thrown: unknown) => thrown);
      return [error instanceof WorkerError, (error as { code: string }).code, (error as Error).message];
    },
    undefined,
  );
  expect(said).toEqual([true, "worker-died", expect.stringMatching(/^the engine failed \(unreachable/)]);
});
