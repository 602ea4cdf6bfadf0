// The API from doc comments: TypeDoc reads the declarations that the package has. `npm run lint` fails for a public name without one.
import { readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { Application } from "typedoc";

const options = resolve(import.meta.dirname, "../typedoc.json");

/** TypeDoc names a page by the folder of its source; readers know it by what they import. */
const importedAs = { client: "gpt2-wasm", element: "gpt2-wasm/element", openai: "gpt2-wasm/openai" };

/** @param {string} [out] */
async function read(out) {
  const app = await Application.bootstrapWithPlugins({ options, ...(out === undefined ? {} : { out }) });
  const project = await app.convert();
  if (!project) throw new Error("TypeDoc could not read the declarations");
  return { app, project };
}

/** @param {string} out */
export async function writeApi(out) {
  const { app, project } = await read(out);
  await app.generateOutputs(project);
  if (app.logger.hasErrors()) throw new Error("TypeDoc could not write the reference");
  for (const [file, name] of Object.entries(importedAs)) {
    const page = join(out, `${file}.md`);
    writeFileSync(page, readFileSync(page, "utf8").replace(`# ${file}\n`, `# import … from "${name}"\n`));
  }
}

/** Throws where a public name has no doc comment; TypeDoc prints it. Needs the declarations (npx tsc -b web). */
export async function checkApi() {
  const { app, project } = await read();
  app.validate(project);
  if (app.logger.hasWarnings() || app.logger.hasErrors())
    throw new Error("a public name has no doc comment, or a doc comment names something that is not there");
}
