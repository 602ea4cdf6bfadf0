// Writes custom-elements.json, which editors and catalogues read, from the elements' doc comments.
import { create, ts } from "@custom-elements-manifest/analyzer/src/browser-entrypoint.js";
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, offered } from "../../engine/generate/options.mjs";

const sources = resolve(import.meta.dirname, "../src/element");
/** Their place in the package. */
const path = "build/package/gpt2-element.js";
const files = ["form-control.ts", "writer.ts", "autocomplete.ts"];

/**
 * The part of the manifest that is used here.
 * @typedef {{ name: string, type?: { text: string }, description?: string, privacy?: string, static?: boolean }} Part
 * @typedef {Record<"members" | "attributes" | "events" | "cssParts" | "cssProperties", Part[]> &
 *   { name: string, tagName: string, customElement?: boolean }} Element
 */

/** @param {Part} part */
const isPublic = ({ privacy = "public", static: isStatic, name }) =>
  privacy === "public" && !isStatic && !/Callback$/.test(name);

/** Attributes for which HTML itself has a property, and `stop`, which is the name of a method. */
const withoutField = ["autofocus", "lang", "stop"];

/** @param {string} attribute */
const propertyOf = (attribute) => attribute.replace(/-(.)/g, (_, letter) => letter.toUpperCase());

/**
 * The properties of attributes that the class does not declare itself.
 * @param {Part[]} members
 * @param {Part[]} attributes
 */
function addedFields(members, attributes) {
  const isAdded = (/** @type {Part} */ { name }) =>
    !withoutField.includes(name) &&
    !members.some((member) => member.name.toLowerCase() === propertyOf(name).toLowerCase());
  return attributes.filter(isAdded).map(({ name, type, description }) => ({
    kind: "field",
    name: propertyOf(name),
    ...(type && { type }),
    ...(description && { description }),
    attribute: name,
  }));
}

/** The attributes that set an option of a generation, unless the doc comment describes another default. */
const ofOptions = offered.map((option) => ({
  name: option.name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`),
  type: { text: "number" },
  description: describe(option),
}));

/** The manifest, as specified by https://github.com/webcomponents/custom-elements-manifest. */
export function customElementsManifest() {
  const modules = files.map((file) =>
    ts.createSourceFile(file, readFileSync(join(sources, file), "utf8"), ts.ScriptTarget.ES2022, true),
  );
  /** @type {{ schemaVersion: string, modules: { declarations: Element[] }[] }} */
  const analysed = create({ modules, plugins: [], dev: false });
  const elements = analysed.modules
    .flatMap(({ declarations }) => declarations)
    .filter(({ customElement }) => customElement)
    .map(({ members, attributes, ...rest }) => {
      // Attributes that are only observed are listed a second time, without a description.
      const own = attributes.filter(({ description }) => description);
      const others = ofOptions.filter(({ name }) => !own.some((attribute) => attribute.name === name));
      const described = [...own, ...others];
      const declared = members.filter(isPublic);
      return {
        ...rest,
        attributes: described,
        members: [...declared, ...addedFields(declared, described)],
      };
    });
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
