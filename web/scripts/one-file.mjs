// Builds the modules that contain worker and engine.
import { join, resolve } from "node:path";
import { build } from "rolldown";
import { pack, packedCode, packedParts } from "./pack.mjs";

const sources = resolve(import.meta.dirname, "../src");

/** Leaves out the tokenizers of other languages: few models need them, and a module can load them from its folder. */
const languagesApart = {
  name: "languages-apart",
  resolveId: (id) =>
    id === "../model/convert/languages.js" ? join(sources, "worker/languages-beside.ts") : null,
};

/**
 * The worker, with the builds in the folder `engine`, for start-packed-worker.ts.
 * @param {string} release
 * @param {string} engine
 * @param {{ hasLanguages: boolean }} options Whether it contains the tokenizers of other languages.
 */
export async function packedWorker(release, engine, { hasLanguages }) {
  const { output } = await build({
    input: join(sources, "worker/packed-worker.ts"),
    logLevel: "warn",
    write: false,
    transform: {
      target: "es2022",
      define: { GPT2_RELEASE: JSON.stringify(release), ...packedParts() },
    },
    plugins: hasLanguages ? [] : [languagesApart],
    // Not a module: Chromium starts no module from a blob on pages opened from disk.
    output: { format: "iife", minify: true, comments: false },
  });
  return {
    engine: `"use strict";const gpt2Code=${JSON.stringify(packedCode(engine))};`, // strict mode, like the original modules
    script: pack(output[0].code),
  };
}

/** Replacements for a module in one file: the worker starts from memory, and stores models itself. */
const inOneFile = new Map([
  ["./start-worker.js", join(sources, "client/start-packed-worker.ts")],
  ["../model/store/index.js", join(sources, "model/store/models.ts")],
]);

export const packedClient = {
  name: "packed-client",
  resolveId: (id) => inOneFile.get(id) ?? null,
};
