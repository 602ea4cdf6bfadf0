// The shell lines of README.md, exactly as they are printed. A stand-in replaces the Hub.
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { readmeBlocks, readmeCode } from "../support/readme.js";
import { StandInHub } from "./stand-in-hub.js";
import { root, scratch, start, tiedFiles } from "./tool.js";

let hub: StandInHub;
let origin: string;
beforeEach(async () => {
  hub = new StandInHub();
  hub.files = tiedFiles();
  origin = await hub.start();
});
afterEach(() => hub.stop());

/** Runs `lines` in `folder`, with the scripts of this checkout. What `npm run model` makes goes to `folder`, too. */
function runLines(lines: string, folder: string) {
  mkdirSync(folder, { recursive: true });
  const script = `set -e; cd "${folder}"
npm() {
  case "$*" in
    "run model "*) command npm --prefix "${root}" "$@" --models "${folder}/models" --originals "${folder}/hub" ;;
    *) command npm --prefix "${root}" "$@" ;;
  esac
}
${lines}`;
  return start(["-c", script], { HF_ENDPOINT: origin }, "bash").ended;
}

const [forEverything = "", forThePage = "", forASite = "", ...others] = readmeCode("sh");

it("the commands that build and test everything are scripts of package.json", () => {
  const { scripts } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { scripts: object };
  const commands = forEverything.trim().split("\n");
  expect(commands.length).toBeGreaterThan(0);
  for (const command of commands) {
    const [, name = ""] = /^npm (start|test)\b/.exec(command) ?? [];
    expect(Object.keys(scripts), command).toContain(name);
  }
});

it("`npm run model` downloads, converts and lists a model", async () => {
  const folder = join(scratch, "page");
  const { status, stderr } = await runLines(forThePage, folder);
  expect(status, stderr).toBe(0);
  const [listed] = JSON.parse(readFileSync(join(folder, "models/index.json"), "utf8")) as {
    folder: string;
  }[];
  expect(listed?.folder).toBe("gpt2-q8");
  expect(existsSync(join(folder, "models/gpt2-q8/weights.json"))).toBe(true);
});

it("`gpt2-weights` fetches a model, and converts it to 4 bits", async () => {
  const folder = join(scratch, "site-of-ones-own");
  const { status, stderr } = await runLines(forASite, folder);
  expect(status, stderr).toBe(0);
  const config = readFileSync(join(folder, "site/models/gpt2-q4/config.json"), "utf8");
  const { quantization_config: made } = JSON.parse(config) as { quantization_config?: { weights: string } };
  expect(made?.weights).toBe("q4");
});

it("README.md has no other snippets, which no test would run", () => {
  expect(others).toEqual([]);
  expect([...new Set(readmeBlocks.map(({ language }) => language))].sort()).toEqual(["html", "sh"]);
});
