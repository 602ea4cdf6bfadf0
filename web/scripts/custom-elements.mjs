// custom-elements.json: what editors and catalogues know of the elements, from their doc comments.
import { create, ts } from "@custom-elements-manifest/analyzer/src/browser-entrypoint.js";
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";

const sources = resolve(import.meta.dirname, "../src/element");
/** Where the package has them. */
const path = "build/package/gpt2-element.js";
const files = ["form-control.ts", "writer.ts", "autocomplete.ts"];

/**
 * What stands in the manifest of an element and of its parts, as far as it is used here.
 * @typedef {{ name: string, type?: { text: string }, description?: string, privacy?: string, static?: boolean }} Part
 * @typedef {Record<"members" | "attributes" | "events" | "cssParts" | "cssProperties", Part[]> &
 *   { name: string, tagName: string, customElement?: boolean }} Element
 */

/** @param {Part} part */
const isPublic = ({ privacy = "public", static: isStatic, name }) =>
  privacy === "public" && !isStatic && !/Callback$/.test(name);

/** The manifest, as https://github.com/webcomponents/custom-elements-manifest has it. */
export function customElementsManifest() {
  const modules = files.map((file) =>
    ts.createSourceFile(file, readFileSync(join(sources, file), "utf8"), ts.ScriptTarget.ES2022, true),
  );
  /** @type {{ schemaVersion: string, modules: { declarations: Element[] }[] }} */
  const analysed = create({ modules, plugins: [], dev: false });
  const elements = analysed.modules
    .flatMap(({ declarations }) => declarations)
    .filter(({ customElement }) => customElement)
    .map(({ members, attributes, ...rest }) => ({
      ...rest,
      // Attributes that are only observed stand here once more, without a word.
      attributes: attributes.filter(({ description }) => description),
      members: members.filter(isPublic),
    }));
  /** @param {string} name */
  const declaration = (name) => ({ name, module: path });
  const exports = elements.flatMap(({ name, tagName }) => [
    { kind: "js", name, declaration: declaration(name) },
    { kind: "custom-element-definition", name: tagName, declaration: declaration(name) },
  ]);
  return {
    schemaVersion: analysed.schemaVersion,
    readme: "README.md",
    modules: [{ kind: "javascript-module", path, declarations: elements, exports }],
  };
}
