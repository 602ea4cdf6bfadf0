// A model as large as GPT-2 in one HTML file: 178 MB. Part of `npm run test:embed`.
import { execFileSync } from "node:child_process";
import { copyFileSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { test } from "@playwright/test";
import { engines } from "../browsers/cases.js";
import { inBrowsers } from "../browsers/tab.js";
import { makeModel } from "../bench/models.mjs";
import { root } from "./app.js";

const file = join(root, "build/embed/gpt2.html");

test.beforeAll(() => {
  const model = makeModel("q8");
  const tokenizer = join(root, "tests/data/gpt2-tokenizer");
  for (const name of ["vocab.json", "merges.txt"]) copyFileSync(join(tokenizer, name), join(model, name));
  mkdirSync(join(root, "build/embed"), { recursive: true });
  execFileSync("node", ["web/scripts/export.mjs", "--model", model, "-o", file, "--force"], { cwd: root });
});

inBrowsers(engines, (tab) => {
  test("a page in one file with all weights of GPT-2 opens and writes", async () => {
    await tab.open(pathToFileURL(file).href);
    const isLoaded = () => document.getElementById("model")?.textContent === "124 million parameters, q8";
    await tab.until(isLoaded);
    // The text means nothing, because the weights are random.
    await tab.run(() => {
      (document.getElementById("option-maxNewTokens") as HTMLInputElement).value = "16";
      document.getElementById("generate")?.click();
    });
    await tab.until(() => document.getElementById("finish")?.textContent.includes("Finished"));
  });
});
