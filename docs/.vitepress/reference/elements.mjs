// A page for the elements, from custom-elements.json.

/** Text in the cell of a table. @param {string | undefined} text */
const cell = (text = "") => text.replaceAll("\n", " ").replaceAll("|", "\\|").replaceAll("<", "&lt;");

/**
 * A table; "" if there are no rows.
 * @param {string} title
 * @param {{ name?: string, type?: { text?: string }, description?: string, default?: string }[]} rows
 */
function table(title, rows) {
  if (rows.length === 0) return "";
  const lines = rows.map(
    ({ name, type, description, default: initial }) =>
      `| \`${name}\` | ${type?.text ? `\`${cell(type.text).replaceAll("&lt;", "<")}\`` : ""} | ${cell(description)}${initial ? ` (default \`${initial}\`)` : ""} |`,
  );
  return `### ${title}\n\n| name | type | meaning |\n| --- | --- | --- |\n${lines.join("\n")}\n\n`;
}

/** @param {{ modules: { declarations: any[] }[] }} manifest */
export function elementsPage({ modules }) {
  const elements = modules.flatMap(({ declarations }) => declarations);
  const sections = elements.map((element) => {
    const fields = element.members.filter((/** @type {any} */ member) => member.kind === "field");
    const methods = element.members
      .filter((/** @type {any} */ member) => member.kind === "method")
      .map((/** @type {any} */ member) => ({
        ...member,
        name: `${member.name}()`,
        type: member.return?.type,
      }));
    return [
      `## \`<${element.tagName}>\`\n\n${element.description}\n\n`,
      table("Attributes", element.attributes),
      table("Properties", fields),
      table("Methods", methods),
      table("Events", element.events ?? []),
      table("Custom properties", element.cssProperties ?? []),
      table("Parts", element.cssParts ?? []),
    ].join("");
  });
  return `# Attributes, properties and events\n\nGenerated from \`custom-elements.json\`, which editors read, too.\n\n${sections.join("")}`;
}
