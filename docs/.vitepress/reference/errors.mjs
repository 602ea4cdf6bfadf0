// A page for the error codes, from the sources of the module: each code with its class and messages.
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";

/**
 * The text of a message; "…" stands for each value in it. Undefined if the message is not written where it is thrown.
 * @param {ts.Expression | undefined} node
 * @returns {string | undefined}
 */
function messageOf(node) {
  if (!node) return undefined;
  if (ts.isStringLiteralLike(node)) return node.text;
  if (ts.isTemplateExpression(node))
    return node.head.text + node.templateSpans.map(({ literal }) => `…${literal.text}`).join("");
  if (!ts.isBinaryExpression(node) || node.operatorToken.kind !== ts.SyntaxKind.PlusToken) return undefined;
  const [left, right] = [messageOf(node.left), messageOf(node.right)];
  return left === undefined && right === undefined ? undefined : `${left ?? "…"}${right ?? "…"}`;
}

/**
 * The errors that a file creates: codes and messages.
 * @param {string} source
 * @returns {{ code: string, message: string | undefined }[]}
 */
function errorsIn(source) {
  /** @type {{ code: string, message: string | undefined }[]} */
  const found = [];
  const visit = (/** @type {ts.Node} */ node) => {
    if (ts.isNewExpression(node) && /Error$/.test(node.expression.getText())) {
      const [code, message] = node.arguments ?? [];
      if (code && ts.isStringLiteral(code) && /^[a-z]+(-[a-z]+)*$/.test(code.text) && message)
        found.push({ code: code.text, message: messageOf(message) });
    } else if (ts.isCallExpression(node) && node.expression.getText() === "refuse") {
      const message = messageOf(node.arguments[0]);
      if (message !== undefined && !/^[\s…]/.test(message)) found.push({ code: "invalid-argument", message });
    }
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile("source.ts", source, ts.ScriptTarget.Latest, true));
  // No caller sees "cancelled": an aborted call rejects with the reason of its signal.
  return found.filter(({ code }) => code !== "cancelled");
}

/**
 * The class of each code that has its own, as in `errorFromWire`.
 * @param {string} source of web/src/shared/errors.ts
 */
export function classesOf(source) {
  const cases = /switch \(code\) \{([^]*?)\n {2}\}/.exec(source)?.[1] ?? "";
  /** @type {Record<string, string>} */
  const classes = {};
  for (const [, codes = "", name = ""] of cases.matchAll(/((?:\s*case "[a-z-]+":)+)\s*return new (\w+)/g))
    for (const [, code = ""] of codes.matchAll(/"([a-z-]+)"/g)) classes[code] = name;
  return classes;
}

/**
 * Every code, in order, with its class and its messages.
 * @param {string} root of the repository
 */
export function errorCodes(root) {
  const folder = join(root, "web/src");
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((file) =>
    /\.ts$/.test(file),
  );
  const classes = classesOf(readFileSync(join(folder, "shared/errors.ts"), "utf8"));
  const errors = files.sort().flatMap((file) => errorsIn(readFileSync(join(folder, file), "utf8")));
  const codes = [...new Set([...Object.keys(classes), ...errors.map(({ code }) => code)])].sort();
  return codes.map((code) => ({
    code,
    name: classes[code] ?? "Gpt2Error",
    messages: [
      ...new Set(errors.flatMap((error) => (error.code === code && error.message ? [error.message] : []))),
    ].filter((message) => /[a-z]{2}/.test(message)),
  }));
}

/**
 * The rows of the table of codes in docs/reference/api.md.
 * @param {string} root of the repository
 */
export const documentedCodes = (root) =>
  [
    ...readFileSync(join(root, "docs/reference/api.md"), "utf8").matchAll(
      /^\| `([a-z-]+)` \| `(\w+)` \| (.*) \|$/gm,
    ),
  ].map(([, code = "", name = "", meaning = ""]) => ({ code, name, meaning }));

/** @param {string} root of the repository */
export function errorsPage(root) {
  const meanings = new Map(documentedCodes(root).map(({ code, meaning }) => [code, meaning]));
  const asCode = (/** @type {string} */ text) => {
    const line = text.replace(/\s+/g, " ").trim();
    return line.includes("`") ? `\`\` ${line} \`\`` : `\`${line}\``;
  };
  const sections = errorCodes(root).map(
    ({ code, name, messages }) =>
      `## \`${code}\`\n\nOf class \`${name}\`, for ${meanings.get(code)}.\n\n${messages.map((message) => `- ${asCode(message)}`).join("\n")}\n`,
  );
  return `---\noutline: 2\n---\n\n# Error codes\n\nEach error of the module has a stable \`code\`. This page lists the messages that the module itself writes, taken from its sources; "…" stands for a
value. The engine has more messages. Each names the file, the tensor or the option, what was expected and what was found.\n\n${sections.join("\n")}`;
}
