// `npx gpt2-wasm` of the packed tarball, and the shell lines of README.md, exactly as they are printed. A stand-in replaces
// the Hub.
import { execFile } from "node:child_process";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "@playwright/test";
import { readmeBlocks, readmeCode } from "../support/readme.js";
import { StandInHub } from "../weights_tools/stand-in-hub.js";
import { expectedText, makeApp, root } from "./app.js";

const [forEverything = "", forASite = "", forThePage = "", ...others] = readmeCode("sh");

/** Runs `lines` in an app with the package installed. What `npm run model` makes goes to the app's folder, too. */
async function runLines(folder: string, lines: string, origin = "http://localhost:1"): Promise<string> {
  const script = `set -e; cd "${folder}"
npm() { command npm --prefix "${root}" "$@" --models "${folder}/models"; }
npx() { shift; node "${folder}/node_modules/gpt2-wasm/build/package/gpt2-cli.js" "$@"; }
${lines}`;
  const env = { ...process.env, HF_ENDPOINT: origin };
  return (await promisify(execFile)("bash", ["-c", script], { env, timeout: 45_000 })).stdout;
}

test("README.md's lines convert a model for a site, and for the page", async () => {
  const hub = new StandInHub();
  for (const name of ["config.json", "model.safetensors"])
    hub.files[name] = readFileSync(join(root, "tests/data/tiny-models/tied", name));
  const origin = await hub.start();
  const folder = makeApp("node");
  rmSync(join(root, "build/embed/node/models"), { recursive: true, force: true });
  await runLines(folder, forASite, origin);
  expect(existsSync(join(folder, "site/models/gpt2-q8/weights.json"))).toBe(true);
  for (let time = 0; time < 2; time += 1) await runLines(folder, forThePage, origin); // the second finds the folder
  const listed = JSON.parse(readFileSync(join(folder, "models/index.json"), "utf8")) as object[];
  const name = "openai-community/gpt2, q8";
  expect(listed).toEqual([{ folder: "gpt2-q8", name, parameters: 113_408, bytes: expect.any(Number) }]);
  await expect(runLines(folder, forThePage.replace("openai-community", "other"), origin)).rejects.toThrow(
    'already has "openai-community/gpt2, q8" in gpt2-q8: choose another --name',
  );
  await expect(runLines(folder, `${forThePage.trim()} --name ../x`)).rejects.toThrow(
    "cannot be the name of a folder",
  );
  hub.stop();
});

test("the program writes the text of the module", async () => {
  const said = await runLines(
    makeApp("node"),
    `npx gpt2-wasm generate "${root}/web/models/demo" "Once upon a time" --max-tokens 24 --seed 1`,
  );
  expect(said).toBe(`${expectedText()}\n`);
});

test("README.md names scripts of package.json, and has no other snippets, which no test would run", () => {
  const { scripts } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { scripts: object };
  for (const command of forEverything.trim().split("\n"))
    expect(scripts).toHaveProperty(/^npm (start|test)\b/.exec(command)?.[1] ?? command);
  expect(others).toEqual([]);
  expect([...new Set(readmeBlocks.map(({ language }) => language))].sort()).toEqual(["html", "sh"]);
});
