// The clients of OpenAI's API that people use, on completionsFetch: each is installed first.
import { copyFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "@playwright/test";
import { native } from "../e2e/model.js";
import { makeApp, root, run } from "./app.js";

test.describe.configure({ timeout: 600_000 });

test("OpenAI's client, the AI SDK and LangChain write what the command line writes", () => {
  const demo = join(root, "web/models/demo");
  const greedy = ["--temperature", "0", "--repetition-penalty", "1", "--max-new-tokens", "24", "--json"];
  const write = (prompt: string) =>
    (native("generate", demo, "--prompt", prompt, ...greedy) as { text: string }).text;
  const said = run(makeApp("openai-clients", true), process.execPath, "main.js", demo);
  const story = write("Once upon a time");
  expect(
    said
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as unknown),
  ).toEqual([story, write("user:\nOnce upon a time\n\nassistant:\n"), story]);
});

test("completions(model) supports abort, early exit, reading twice, tee and responses like OpenAI's client", () => {
  const app = makeApp("openai-clients", true);
  copyFileSync(join(import.meta.dirname, "compare-clients.mjs"), join(app, "compare.mjs"));
  const [theirs, ours] = run(app, process.execPath, "compare.mjs", join(root, "web/models/demo"))
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  expect(Object.keys(theirs ?? {}).length).toBeGreaterThan(10);
  expect(ours).toEqual(theirs);
});
