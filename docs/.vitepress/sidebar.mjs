// The sidebar, from the lists of docs/index.md and the generated reference.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";

const docs = resolve(import.meta.dirname, "..");
const generated = join(docs, "reference/generated");

/** The pages that reference/generate.mjs writes: file, and title in the sidebar. */
export const generatedPages = [
  { file: "api/client.md", text: "API: gpt2-wasm" },
  { file: "api/element.md", text: "API: gpt2-wasm/element" },
  { file: "api/openai.md", text: "API: gpt2-wasm/openai" },
  { file: "api/figures.md", text: "API: gpt2-wasm/figures" },
  { file: "errors.md", text: "Error codes" },
  { file: "elements.md", text: "Attributes and events" },
  { file: "command-line.md", text: "Commands and options" },
  { file: "c-api.md", text: "The C API" },
  { file: "format.md", text: "The model folder" },
];

/** Each `## heading` of the index is a group, each item a page. */
export function sidebar() {
  const index = readFileSync(join(docs, "index.md"), "utf8");
  return index
    .split(/^## /m)
    .slice(1)
    .map((section) => {
      const [text = ""] = section.split("\n", 1);
      const items = [...section.matchAll(/^- \[(.*?)\]\(([^):]+)\.md\)/gm)]
        .map(([, name = "", path = ""]) => ({ text: name, link: `/${path}` }))
        .filter(({ link }) => !link.startsWith("/../"));
      const others = generatedPages
        .filter(({ file }) => existsSync(join(generated, file)))
        .map((page) => ({ text: page.text, link: `/reference/generated/${page.file.replace(/\.md$/, "")}` }));
      return { text, items: text === "Reference" ? [...items, ...others] : items };
    });
}

/** Every page of the site, as a path below docs/. */
export const pages = () =>
  readdirSync(docs, { recursive: true, encoding: "utf8" }).filter(
    (path) => path.endsWith(".md") && !path.startsWith(".vitepress"),
  );
