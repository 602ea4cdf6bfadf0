// Types of the elements for the templates of frameworks, from custom-elements.json: the declarations of
// `gpt2-wasm/element/react` and so on. Each of these modules defines the elements, too; React's has components.
import { generateJsxTypes } from "@wc-toolkit/jsx-types";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { format } from "prettier";

/** @typedef {ReturnType<typeof import("./custom-elements.mjs").customElementsManifest>} Manifest */

const props = "gpt2-element-props";

/** An attribute may also be written as text, as in HTML. */
const attributeTypes = new Map([["number", "number | `${number}`"]]);

/**
 * The manifest for the generator: the type of a property refers to the class, whose file is imported.
 * @param {Manifest} manifest
 * @returns {any} The generator's own type of a manifest is narrower than what JSON has.
 */
function withTypesOfClasses(manifest) {
  const modules = manifest.modules.map((module) => ({
    ...module,
    declarations: module.declarations.map((declaration) => ({
      ...declaration,
      attributes: declaration.attributes.map((attribute) => ({
        ...attribute,
        type: { text: attributeTypes.get(attribute.type?.text ?? "") ?? attribute.type?.text ?? "string" },
      })),
      members: declaration.members.map((member) => ({
        ...member,
        type: { text: `${declaration.name}["${member.name}"]` },
      })),
    })),
  }));
  return { ...manifest, modules };
}

/**
 * The attributes, properties and events of the elements: gpt2-element-props.d.ts.
 * @param {Manifest} manifest
 * @param {string} folder
 */
function writeProps(manifest, folder) {
  const file = join(folder, `${props}.d.ts`);
  generateJsxTypes(withTypesOfClasses(manifest), {
    outdir: folder,
    fileName: `${props}.d.ts`,
    useCemTypes: true,
  });
  const text = readFileSync(file, "utf8");
  const types = [...text.matchAll(/^export type \w+Props = \{.*?^\};$/gms)].map(([type]) =>
    // An attribute without a property is listed as one called "undefined".
    type.replace(/^ *\/\*\*[^\n]*\*\/\n *"?(?:prop:)?undefined"?\?:[^;]*;\n/gm, ""),
  );
  if (types.length !== 4)
    throw new Error(`${file}: expected the types of two elements, found ${types.length}`);
  const imports = [
    'import type { LoadProgress, Token } from "./gpt2.js";',
    'import type { Gpt2Accept, Gpt2Autocomplete, Gpt2Done, Gpt2Failure, Gpt2Writer } from "./gpt2-element.js";',
  ];
  writeFileSync(file, [...imports, ...types, ""].join("\n\n"));
}

/** @param {string} name */
const component = (name) =>
  `\n/** \`<gpt2-${name}>\`, also in pages that a server renders. */\nexport declare function ` +
  `${name.charAt(0).toUpperCase()}${name.slice(1)}(props: JSX.IntrinsicElements["gpt2-${name}"]): ReactElement;`;

/**
 * For each framework: the type of an element with the class T and these properties, and where it declares elements.
 * @type {Record<string, { imports: string, element: (tag: string, name: string) => string, declare: (elements: string)
 * => string }>}
 */
const frameworks = {
  react: {
    imports: 'import type { DetailedHTMLProps, HTMLAttributes, JSX, ReactElement } from "react";',
    element: (tag, name) => `"${tag}": DetailedHTMLProps<HTMLAttributes<${name}>, ${name}> & ${name}Props;`,
    declare: (elements) =>
      `declare module "react" {\n  namespace JSX {\n    interface IntrinsicElements {\n${elements}\n    }\n  }\n}` +
      ["writer", "autocomplete"].map(component).join(""),
  },
  preact: {
    imports: 'import type { JSX as PreactJSX } from "preact";',
    element: (tag, name) => `"${tag}": PreactJSX.HTMLAttributes<${name}> & ${name}Props;`,
    declare: (elements) =>
      `declare module "preact" {\n  namespace JSX {\n    interface IntrinsicElements {\n${elements}\n    }\n  }\n}`,
  },
  solid: {
    imports: 'import type { JSX as SolidJSX } from "solid-js";',
    element: (tag, name) =>
      `"${tag}": SolidJSX.HTMLAttributes<${name}> & Omit<${name}Props, \`on\${string}\`> & ${name}SolidJsProps;`,
    declare: (elements) =>
      `declare module "solid-js" {\n  namespace JSX {\n    interface IntrinsicElements {\n${elements}\n    }\n  }\n}`,
  },
  svelte: {
    imports: 'import type { HTMLAttributes } from "svelte/elements";',
    element: (tag, name) => `"${tag}": HTMLAttributes<${name}> & ${name}Props;`,
    declare: (elements) =>
      `declare module "svelte/elements" {\n  interface SvelteHTMLElements {\n${elements}\n  }\n}`,
  },
  vue: {
    imports: [
      'import type { DefineComponent, HTMLAttributes } from "vue";',
      "/** `@gpt2-done` is the property onGpt2Done. */",
      "type Handlers<Props> = {",
      "  [Name in keyof Props as Name extends `ongpt2-${infer Event}` ? `onGpt2${Capitalize<Event>}` : never]: Props[Name];",
      "};",
      "type Element<Props> = DefineComponent<Props & Handlers<Props> & HTMLAttributes>;",
    ].join("\n"),
    element: (tag, name) => `"${tag}": Element<${name}Props>;`,
    declare: (elements) => `declare module "vue" {\n  interface GlobalComponents {\n${elements}\n  }\n}`,
  },
};

/** Their names, as in the address of a module. */
export const frameworkNames = Object.keys(frameworks);

/**
 * @param {Manifest} manifest
 * @param {string} folder The folder of gpt2-element.d.ts.
 */
export async function writeFrameworkTypes(manifest, folder) {
  writeProps(manifest, folder);
  const elements = manifest.modules.flatMap(({ declarations }) => declarations);
  for (const [framework, { imports, element, declare }] of Object.entries(frameworks)) {
    const names = elements.map(({ name }) => name);
    const used = names.flatMap((name) => [
      `${name}Props`,
      ...(framework === "solid" ? [`${name}SolidJsProps`] : []),
    ]);
    const text = [
      imports,
      `import type { ${names.join(", ")} } from "./gpt2-element.js";`,
      `import type { ${used.join(", ")} } from "./${props}.js";`,
      `export * from "./gpt2-element.js";`,
      declare(elements.map(({ tagName, name }) => element(tagName, name)).join("\n")),
      "",
    ].join("\n");
    const file = join(folder, `gpt2-element-${framework}.d.ts`);
    writeFileSync(file, await format(text, { parser: "typescript" }));
  }
}
