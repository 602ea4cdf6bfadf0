// A model as large as GPT-2 in one HTML file: 178 MB. It opens from disk and writes. Part of `npm run test:embed`.
import { execFileSync } from "node:child_process";
import { copyFileSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { test } from "@playwright/test";
import { cases } from "../browsers/cases.js";
import { until } from "../browsers/until.js";
import { makeModel } from "../bench/models.mjs";
import { root } from "./app.js";

test.describe.configure({ timeout: 300_000 });

const file = join(root, "build/embed/gpt2.html");

test.beforeAll(() => {
  const model = makeModel("q8");
  const tokenizer = join(root, "tests/data/gpt2-tokenizer");
  for (const name of ["vocab.json", "merges.txt"]) copyFileSync(join(tokenizer, name), join(model, name));
  mkdirSync(join(root, "build/embed"), { recursive: true });
  execFileSync("node", ["web/scripts/export.mjs", "--model", model, "-o", file, "--force"], { cwd: root });
});

for (const { name, launch } of cases.filter((each) => !each.name.includes("shared"))) {
  test(`the page in one file opens and writes in ${name}`, async () => {
    const browser = await launch();
    try {
      await browser.open(pathToFileURL(file).href);
      await until(browser, `document.getElementById("model").textContent === "124 million parameters, q8"`);
      // The text means nothing, because the weights are random.
      const write = `(async () => {
        document.getElementById("option-maxNewTokens").value = "16";
        document.getElementById("generate").click();
        return "";
      })()`;
      await browser.evaluate(write);
      await until(browser, `/Finished/.test(document.getElementById("finish").textContent)`);
    } finally {
      await browser.close();
    }
  });
}
