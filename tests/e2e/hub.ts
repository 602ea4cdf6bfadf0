// A stand-in for the Hub, a new one for each test of a file. Also a page that loads no model by itself, and models from both.
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type Page } from "@playwright/test";
import { StandInHub } from "../weights_tools/stand-in-hub.js";
import { inPage, native } from "./model.js";

export let hub: StandInHub;
/** Its address, for the option `hub`. */
export let origin: string;

export function useHub(): void {
  test.beforeEach(async ({ page }) => {
    hub = new StandInHub();
    origin = await hub.start();
    await page.goto("./?model=none");
  });
  test.afterEach(() => hub.stop());
}

/** Puts files of `folder` on the hub. */
export function give(folder: string, names: readonly string[] = readdirSync(folder)): void {
  for (const name of names) hub.files[name] = readFileSync(join(folder, name));
}

/** Puts the hub's files into a folder, and returns the result of `use` with it. */
export function inFolder<T>(use: (folder: string) => T): T {
  const folder = mkdtempSync(join(tmpdir(), "gpt2-hub-"));
  for (const [file, buffer] of Object.entries(hub.files)) writeFileSync(join(folder, file), buffer);
  try {
    return use(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** The ids of the native tool's text. */
export const natively = (...args: string[]): number[] =>
  native("generate", ...args, "--json", "--max-new-tokens", "12", "--temperature", "0").ids;

/** Loads a model in the page, and lets it continue `prompt`. An error begins with its code. */
export const write = (
  page: Page,
  source: string,
  load: object = {},
  prompt: string | number[] = [1, 2, 3],
  module = "gpt2.js",
) =>
  inPage(
    page,
    async (_, [from, options, given, script]) => {
      const { loadModel } = (await import(new URL(script, location.href).href)) as typeof _;
      const bytes = { loaded: 0, total: 0 };
      const model = await loadModel(from, {
        variant: "simd",
        ...options,
        onProgress: ({ loadedBytes, totalBytes }) => {
          Object.assign(bytes, { loaded: loadedBytes, total: totalBytes });
        },
      }).catch((error: Error & { code?: string }) => {
        throw new Error(`${error.code ?? "?"}: ${error.message}`);
      });
      const { tokens, text } = await model.complete(given, { maxNewTokens: 12, temperature: 0 });
      const decode = async (all: number[] | Uint32Array) =>
        model.info.hasTokenizer ? model.detokenize(all) : "";
      const promptIds = typeof given === "string" ? await model.tokenize(given) : given;
      const found = {
        ids: tokens.map(({ id }) => id),
        text,
        pieces: tokens.map((token) => token.text),
        decoded: await decode(promptIds),
        beyond: await decode([model.info.config.vocabSize - 1]),
        bytes,
        info: model.info,
      };
      await model.dispose();
      return found;
    },
    [source, { hub: origin, cache: false, ...load }, prompt, module] as const,
  );
