// Writes the generated part of the reference to docs/reference/generated: from doc comments, custom-elements.json, --help,
// the engine's header and the errors in the sources.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { writeApi } from "./api.mjs";
import { cApiPage } from "./c-api.mjs";
import { commandLinePage } from "./command-line.mjs";
import { elementsPage } from "./elements.mjs";
import { errorsPage } from "./errors.mjs";

const root = resolve(import.meta.dirname, "../../..");
const generated = join(root, "docs/reference/generated");

/**
 * Adjusts the links of a document in `folder` for docs/reference/generated. @param {string} text @param {string} folder
 */
const moved = (text, folder) =>
  text.replace(/\]\((?!\w+:|#)([^)]+)\)/g, (_, path) => `](${join("../../..", folder, path)})`);

export async function generateReference() {
  rmSync(generated, { recursive: true, force: true });
  const write = (/** @type {string} */ name, /** @type {string} */ text) => {
    const file = join(generated, name);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  };
  await writeApi(join(generated, "api"));
  write(
    "elements.md",
    elementsPage(JSON.parse(readFileSync(join(root, "build/package/custom-elements.json"), "utf8"))),
  );
  write("command-line.md", commandLinePage(root));
  write("c-api.md", cApiPage(readFileSync(join(root, "engine/api/api.h"), "utf8")));
  write("errors.md", errorsPage(root));
  write("format.md", moved(readFileSync(join(root, "weights_tools/FORMAT.md"), "utf8"), "weights_tools"));
}
