// The page in one file, opened from a disk.
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, test } from "@playwright/test";
import { cases } from "./cases.js";
import { until } from "./until.js";

const root = resolve(import.meta.dirname, "../..");
const demo = resolve(root, "web/models/demo");
const folder = mkdtempSync(join(tmpdir(), "gpt2-one-file-"));
const file = join(folder, "a story.html");

test.beforeAll(() => {
  execFileSync("node", ["web/scripts/export.mjs", "--model", demo, "-o", file], { cwd: root });
});
test.afterAll(() => rmSync(folder, { recursive: true, force: true }));

test("the file is hardly larger than its weights in base64", () => {
  const weights = ["000", "001"].reduce(
    (sum, piece) => sum + statSync(join(demo, `model.safetensors.${piece}`)).size,
    0,
  );
  expect(statSync(file).size).toBeLessThan(1.02 * ((weights * 4) / 3 + 400_000));
});

for (const { name, launch } of cases.filter((each) => !each.name.includes("shared"))) {
  test(`${name} opens it from a disk, and writes what the command line writes`, async () => {
    const prompt = "The sea was";
    const program = resolve(root, "build/native/weights_tools/gpt2-weights");
    const options = ["--max-new-tokens", "30", "--seed", "9", "--json"];
    const native = execFileSync(program, ["generate", demo, "--prompt", prompt, ...options], {
      encoding: "utf8",
    });
    const { text } = JSON.parse(native) as { text: string };
    const browser = await launch();
    try {
      await browser.open(pathToFileURL(file).href);
      await until(browser, `document.getElementById("engine").textContent.includes("1 thread")`);
      const left = `Promise.resolve(String(document.querySelectorAll("script[data-file]").length))`;
      expect(await browser.evaluate(left)).toBe("0"); // its memory is given back
      await browser.evaluate(
        `(async () => {
          document.getElementById("prompt").value = ${JSON.stringify(prompt)};
          document.getElementById("option-maxNewTokens").value = "30";
          document.getElementById("option-seed").value = "9";
          document.getElementById("generate").click();
          return "";
        })()`,
      );
      await until(browser, `document.getElementById("finish").textContent.includes("Seed")`);
      const shown = await browser.evaluate(
        `(async () => JSON.stringify({
          output: document.getElementById("output").textContent,
          asked: performance.getEntriesByType("resource").map(({ name }) => name).filter((name) => !/^(blob|data):/.test(name)),
        }))()`,
      );
      expect(JSON.parse(shown)).toEqual({ output: prompt + text, asked: [] });
    } finally {
      await browser.close();
    }
  });
}
