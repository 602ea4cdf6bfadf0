// The API from doc comments: TypeDoc reads the declarations that the package has. `npm run lint` fails for a public name without one.
import { readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { Application, ReflectionKind } from "typedoc";

const options = resolve(import.meta.dirname, "../typedoc.json");

/** TypeDoc names a page by the folder of its source; readers know it by its import. */
const importedAs = {
  client: "gpt2-wasm",
  element: "gpt2-wasm/element",
  openai: "gpt2-wasm/openai",
  figures: "gpt2-wasm/figures",
};

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

const { Class, Interface, Function: Func, Method, Property, TypeAlias, Variable, Accessor } = ReflectionKind;
/** @type {import("typedoc").ReflectionKind} */
const kinds = Class | Interface | Func | Method | Property | TypeAlias | Variable | Accessor;
/** Members of an element that only the browser uses. */
const byBrowser = /Callback$|^(formAssociated|observedAttributes)$/;

/** Members of an inline type are documented by the declaration that contains it. */
const inline = ".__type.";

/** @param {import("typedoc").DeclarationReflection} reflection */
const isDocumented = (reflection) =>
  [reflection, reflection.getSignature, ...(reflection.signatures ?? [])].some((each) => each?.hasComment());

/** A property that sets an attribute: the element's comment describes the attribute. @param {import("typedoc").DeclarationReflection} each */
const isOfAttribute = ({ type }) => type?.type === "reference" && type.name === "AttributeValue";

/** Throws if a public name has no doc comment. Needs the declarations (npx tsc -b web). */
export async function checkApi() {
  const { app, project } = await read();
  const bare = /** @type {import("typedoc").DeclarationReflection[]} */ (project.getReflectionsByKind(kinds))
    .filter((each) => !each.inheritedFrom && !byBrowser.test(each.name))
    .filter((each) => !isOfAttribute(each) && !isDocumented(each))
    .map((each) => each.getFullName())
    .filter((name) => !name.includes(inline));
  app.validate(project);
  if (bare.length > 0) throw new Error(`public names without a doc comment: ${bare.join(", ")}`);
  if (app.logger.hasErrors() || app.logger.hasWarnings())
    throw new Error("a doc comment names something that is not there");
}
