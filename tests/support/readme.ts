// The snippets of README.md, for the tests that run them as they are printed.
import { readFileSync } from "node:fs";
import { resolve } from "node:path";

const readme = readFileSync(resolve(import.meta.dirname, "../../README.md"), "utf8");

/** Each code block of README.md: its language and its text. */
export const readmeBlocks = [...readme.matchAll(/^```(\w*)\n([^]*?)^```$/gm)].map(
  ([, language = "", code = ""]) => ({ language, code }),
);

/** The code blocks in `language`, in their order. */
export const readmeCode = (language: string) =>
  readmeBlocks.filter((block) => block.language === language).map(({ code }) => code);
