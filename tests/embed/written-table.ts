// Tables of documents that tests write, between two marks: <!-- NAME: ... --> and <!-- end of NAME -->.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "./app.js";

/**
 * Writes `rows`, the first of which is the head, into `document`, unless `isSame` for the table there. In CI nothing is
 * written: it fails if the document has another table.
 */
export function checkTable(
  document: string,
  name: string,
  [head, ...body]: readonly [readonly string[], ...(readonly string[])[]],
  isSame = (before: string, now: string) => before === now,
): void {
  const file = join(root, document);
  const text = readFileSync(file, "utf8");
  const marked = new RegExp(`(?<=<!-- ${name}: [^>]*-->\n\n).*?(?=\n\n<!-- end of ${name} -->)`, "s");
  const before = marked.exec(text)?.[0];
  if (before === undefined) throw new Error(`${document} has no table called ${name}`);
  const rows = [head, head.map(() => "---"), ...body];
  const table = rows.map((row) => `| ${row.join(" | ")} |`.replace(/ {2,}\|/g, " |")).join("\n");
  if (isSame(before, table)) return;
  if (process.env.CI) {
    const advice = "run the tests once outside CI, which writes it";
    throw new Error(`${document} has another table called ${name}: ${advice}\n${table}\nthere:\n${before}`);
  }
  writeFileSync(
    file,
    text.replace(marked, () => table),
  );
}
