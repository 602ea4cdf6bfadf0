// Our additions to VitePress's Markdown: live examples, diagrams, and links that leave docs/.
import { readFileSync } from "node:fs";
import { relative, resolve } from "node:path";
import { renderMermaidSVG } from "beautiful-mermaid";

/** @typedef {import("vitepress").MarkdownRenderer} Markdown */

const docs = resolve(import.meta.dirname, "..");
const { repository } = JSON.parse(readFileSync(resolve(docs, "../package.json"), "utf8"));

/**
 * The anchor of a heading, as GitHub makes it: links between our documents work in both places.
 * @param {string} heading
 */
export const slugOf = (heading) =>
  heading
    .trim()
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, "")
    .replaceAll(" ", "-");

/**
 * Replaces every model in an example by the demo model, which is part of the site, so that no other host is contacted.
 */
const modelNames = /(["'])(?:hf:openai-community\/gpt2|models\/(?:gpt2-q8|demo)\/)\1/g;

/**
 * Shows the result below a code block ```` ```html live ````; below ```` ```js live ````, a button that runs it. The reader can edit
 * ```` ```js try ````, and its console is shown. ```` ```text result ```` is what it then prints, hidden until the reader opens it.
 * @param {Markdown} md
 * @param {{ base: string }} options
 */
export function liveExamples(md, { base }) {
  const model = `"${base}models/demo/"`;
  const fence = md.renderer.rules.fence;
  md.renderer.rules.fence = (tokens, index, options, env, self) => {
    const token = tokens[index];
    const code = fence?.(tokens, index, options, env, self) ?? "";
    const [language, live = ""] = (token?.info ?? "").split(/\s+/);
    if (live === "result")
      return `<details class="result"><summary>What you should see</summary>\n${code}</details>\n`;
    if (!token || !["live", "try"].includes(live)) return code;
    const source = token.content.replace(modelNames, model);
    if (language === "html") {
      const body = /<body>([^]*)<\/body>/.exec(source)?.[1] ?? source;
      const html = body.replace(/<script[^]*?<\/script>\n?/g, "");
      return `${code}<div class="live" data-live="html">\n${html}</div>\n`;
    }
    const script = `source="${encodeURIComponent(source)}"`;
    return live === "try" ? `<LiveScript ${script} editable />\n` : `${code}<LiveScript ${script} />\n`;
  };
}

/**
 * Draws diagrams at build time, in the site's colours, light and dark.
 * @param {Markdown} md
 */
export function diagrams(md) {
  const fence = md.renderer.rules.fence;
  md.renderer.rules.fence = (tokens, index, options, env, self) => {
    const token = tokens[index];
    if (token?.info.trim() !== "mermaid") return fence?.(tokens, index, options, env, self) ?? "";
    const colours = { bg: "var(--vp-c-bg)", fg: "var(--vp-c-text-1)", transparent: true };
    const svg = renderMermaidSVG(token.content, colours)
      .replace(/<style>[^]*?<\/style>/, (style) =>
        style.replace(/@import[^;]*?\);\s*|font-family:[^;]*;/g, ""),
      )
      .replace(/^<svg /, '<svg role="img" aria-label="Diagram; the text says the same" ');
    return `<div class="diagram" tabindex="0" v-pre>${svg.replace(/<style>/g, '<component is="style">').replace(/<\/style>/g, "</component>")}</div>\n`;
  };
}

/**
 * Links to files that are not pages of the site go to the repository, if package.json names one. Otherwise, those to
 * an example go to its code on the page "Examples", and only the text of the others stays.
 * @param {Markdown} md
 */
export function documentLinks(md) {
  md.core.ruler.push("document-links", (state) => {
    const from = resolve(docs, state.env.relativePath ?? "", "..");
    for (const { children } of state.tokens) {
      let isPlain = false;
      for (const token of children ?? []) {
        if (token.type === "link_close" && isPlain) {
          Object.assign(token, { type: "text", tag: "", nesting: 0, content: "" });
          isPlain = false;
        }
        const href = token.type === "link_open" ? (token.attrGet("href") ?? "") : "";
        if (!/^\.\.?\//.test(href)) continue;
        const [, path = "", suffix = ""] = /^([^#]*)(.*)$/.exec(href) ?? [];
        const target = relative(docs, resolve(from, path));
        if (!target.startsWith("..") && target.endsWith(".md")) continue;
        const file = target.startsWith("..") ? target.slice(3) : `docs/${target}`;
        if (file === "weights_tools/FORMAT.md") {
          token.attrSet("href", `/reference/generated/format.md${suffix}`);
        } else if (repository) {
          token.attrSet("href", `${repository.url.replace(/^git\+|\.git$/g, "")}/blob/main/${file}${suffix}`);
        } else if (file.startsWith("examples/")) {
          token.attrSet("href", `/how-to/examples.md#${file.split("/")[1]}`);
        } else {
          Object.assign(token, { type: "text", tag: "", nesting: 0, content: "", attrs: null });
          isPlain = true;
        }
      }
    }
  });
}
