// `npm run self-test:expect`: computes natively what the page's self-test has to find, and writes it beside the test. To be
// run where the engine's numbers changed on purpose.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import * as prettier from "prettier";
import { build } from "rolldown";
import { buildPreset } from "../../engine/toolchain/build.mjs";

const root = resolve(import.meta.dirname, "../..");
const folder = join(root, "web/page/parts/device/self-test");
export const expectedFile = join(folder, "expected.ts");
const tool = join(root, "build/native/weights_tools/gpt2-weights");

/** A module of TypeScript, which Node.js 20 does not import by itself. */
async function importTypeScript(file) {
  const { output } = await build({ input: join(folder, file), write: false, logLevel: "warn" });
  return import(`data:text/javascript;base64,${Buffer.from(output[0].code).toString("base64")}`);
}

const native = (input, ...args) =>
  JSON.parse(execFileSync(tool, args, { encoding: "utf8", input, stdio: ["pipe", "pipe", "inherit"] }));

/** What each case and text has to come to: hashes by the names of cases, ids by texts. */
export async function expectedValues() {
  const { cases, promptIds, options, texts, bitsOf } = await importTypeScript("cases.ts");
  const { modelFiles } = await importTypeScript("tiny-model.ts");
  const scratch = mkdtempSync(join(tmpdir(), "gpt2-self-test-"));
  try {
    const hashes = {};
    const folders = cases.map(({ shape, weights }, number) => {
      const floats = join(scratch, `${number}-f32`);
      mkdirSync(floats);
      for (const { name, content } of modelFiles(shape)) writeFileSync(join(floats, name), content);
      if (weights === "f32") return floats;
      const converted = join(scratch, `${number}-${weights}`);
      // As a browser quantizes what it loads: all inputs matter alike.
      native("", "convert", "--json", "--weights", weights, "--calibration-tokens", "0", floats, converted);
      return converted;
    });
    for (const [number, { name, kv, weights }] of cases.entries()) {
      const { continuations } = native(
        "",
        ...["generate", "--json", "--kv", kv, "--ids", promptIds.join(), "--ignore-eos"],
        ...(weights === "f32" ? ["--weights", "f32"] : []), // floats would become 8 bits
        ...["--max-new-tokens", options.maxNewTokens, "--temperature", options.temperature],
        ...["--top-k", options.topK, "--top-p", options.topP, "--n", options.n, "--seed", options.seed],
        folders[number],
      );
      hashes[name] = createHash("sha256").update(bitsOf(continuations)).digest("hex").slice(0, 16);
    }
    const ids = texts.map((text) => native(text, "tokenize", folders[0]));
    return { hashes, ids };
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

/** The source text of expected.ts. */
export async function expectedSource({ hashes, ids }) {
  const source = `// What the self-test has to find: made by \`npm run self-test:expect\`.

/** Of each case, by its name: the first half of the SHA-256 of what \`bitsOf\` says of it. */
export const hashes: Readonly<Record<string, string>> = ${JSON.stringify(hashes)};

/** Of each text. */
export const ids: readonly (readonly number[])[] = ${JSON.stringify(ids)};
`;
  return prettier.format(source, { ...(await prettier.resolveConfig(expectedFile)), filepath: expectedFile });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  buildPreset("native", { targets: ["gpt2-weights"] });
  writeFileSync(expectedFile, await expectedSource(await expectedValues()));
}
