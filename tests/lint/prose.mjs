// `npm run lint` on prose: the documents, the words of the page, and the comments of the sources. cspell checks the
// spelling; prose-rules.mjs has the rest.
// `node tests/lint/prose.mjs [FILE...]` checks prose alone.
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { root } from "../../engine/toolchain/build.mjs";
import { blocksOf, commentsOf, longSentencesIn, problemsOf } from "./prose-rules.mjs";

/** @param {string[]} patterns */
const filesOf = (...patterns) =>
  execFileSync("git", ["ls-files", "-co", "--exclude-standard", ...patterns], { cwd: root, encoding: "utf8" })
    .trim()
    .split("\n")
    .filter((file) => !/^tests\/(data|fuzz\/corpus)\//.test(file) && existsSync(join(root, file)));
/** Every source file, whose comments are prose. */
const sourceFiles = () =>
  filesOf().filter((file) => /(\.(ts|mjs|js|cc|h|c|css|html|cmake|yml)|CMakeLists\.txt)$/.test(file));
/** Every document of the repository, and the English of the page. */
const proseFiles = () => filesOf("*.md", "web/page/language/en.ts");

/**
 * The texts of the page's words: the strings in double quotes, line by line.
 * @param {string} source
 */
const phrasesOf = (source) =>
  source.split("\n").flatMap((line, index) =>
    [...line.replace(/^\s*\/\/.*/, "").matchAll(/"((?:[^"\\]|\\.)*)"/g)].map(([, text = ""]) => ({
      line: index + 1,
      text,
    })),
  );

/**
 * One line for each problem in the prose of a file, or in its comments if it `isSource`.
 * @param {string} file
 */
function problemsIn(file, isSource = false) {
  const text = readFileSync(join(root, file), "utf8");
  const mark = /(\.(cmake|yml)|CMakeLists\.txt)$/.test(file) ? "#" : "//";
  const blocks = isSource ? commentsOf(text, mark) : file.endsWith(".md") ? blocksOf(text) : phrasesOf(text);
  return blocks.flatMap((block) => {
    const problems = isSource ? longSentencesIn(block.text) : problemsOf(block);
    return problems.map((problem) => `${file}:${block.line}: ${problem}`);
  });
}

/** Prints the problems, and throws if there are any. */
export function lintProse(files = proseFiles(), sources = sourceFiles()) {
  const inSources = sources.flatMap((file) => problemsIn(file, true));
  const problems = [...files.flatMap((file) => problemsIn(file)), ...inSources];
  for (const problem of problems) console.error(problem);
  let misspelt = false;
  try {
    const options = ["--no-progress", "--no-summary", "-c", "tests/lint/cspell.json"];
    execFileSync("npx", ["cspell", ...options, ...files], { cwd: root, stdio: ["ignore", 2, 2] });
  } catch {
    misspelt = true; // cspell has printed the words
  }
  if (problems.length > 0 || misspelt)
    throw new Error(
      `prose: ${problems.length} problems${misspelt ? ", and words that cspell does not know: correct them, or add names and terms to tests/lint/words.txt" : ""}`,
    );
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  try {
    const files = process.argv.slice(2);
    if (files.length > 0) lintProse(files, []);
    else lintProse();
  } catch (error) {
    console.error(error.message);
    process.exit(1);
  }
}
