// A page for the C API, from the comments and declarations of engine/api/api.h.

/** The text of a block of `//` comments. @param {string[]} lines */
const textOf = (lines) => lines.map((line) => line.replace(/^\/\/ ?/, "")).join("\n");

/** Escapes a comment for Markdown; code between backticks stays code. @param {string} text */
const escaped = (text) =>
  text
    .split("`")
    .map((part, index) => (index % 2 ? part : part.replaceAll("<", "&lt;").replaceAll("*", "\\*")))
    .join("`")
    .replaceAll("{{", "{ {");

/**
 * The declarations of a header, each with the comment above it.
 * @param {string} header
 */
export function declarationsOf(header) {
  const body = header.slice(header.indexOf('extern "C" {'), header.lastIndexOf("#ifdef __cplusplus"));
  /** @type {{ comment: string, code: string, names: string[] }[]} */
  const found = [];
  for (const block of body.split(/\n{2,}/)) {
    /** @type {string[]} */
    let comment = [];
    let code = "";
    const end = () => {
      const names = [...code.matchAll(/\b(gpt2_\w+)\(|struct (\w+) \{/g)].map(
        ([, name, struct]) => name ?? struct ?? "",
      );
      if (names.length > 0) found.push({ comment: textOf(comment), code: code.trimEnd(), names });
      comment = [];
      code = "";
    };
    for (const line of block.split("\n")) {
      if (line.startsWith("#") || line.startsWith("extern")) continue;
      if (line.startsWith("//") && code !== "") end();
      if (line.startsWith("//")) comment.push(line);
      else code += `${line}\n`;
    }
    end();
  }
  return found;
}

/** @param {string} header */
export function cApiPage(header) {
  const conventions = textOf(
    header.slice(header.indexOf("// Conventions"), header.indexOf("#pragma once")).trim().split("\n"),
  );
  const rules = conventions
    .replace(/^Conventions\n/, "")
    .replace(/^ +(?=\d+\.)/gm, "")
    .replace(/^ {3,}/gm, "   ");
  const sections = declarationsOf(header).map(
    ({ comment, code, names }) => `## \`${names[0]}\`\n\n${escaped(comment)}\n\n\`\`\`c\n${code}\n\`\`\`\n`,
  );
  return `# The C API\n\nThe functions that WebAssembly exports (\`engine/api/api.h\`).\n\n## Conventions\n\n${escaped(rules)}\n\n${sections.join("\n")}`;
}
