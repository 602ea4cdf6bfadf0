// Tables of documents that tests write, between two marks: <!-- NAME: ... --> and <!-- end of NAME -->.
import { readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";

const root = resolve(import.meta.dirname, "../..");

const pattern = (name: string) =>
  new RegExp(`(<!-- ${name}: [^>]*-->\\n\\n)(.*?)(\\n\\n<!-- end of ${name} -->)`, "s");

/** Every row as its cells, without the line below the head. */
const cellsOf = (table: string) =>
  table
    .split("\n")
    .filter((line) => !/^\|[-| ]*$/.test(line))
    .map((line) =>
      line
        .split("|")
        .slice(1, -1)
        .map((cell) => cell.trim()),
    );

/** The table called `name` in `document`. */
export function writtenTable(document: string, name: string): string[][] {
  const table = pattern(name).exec(readFileSync(join(root, document), "utf8"))?.[2];
  if (table === undefined) throw new Error(`${document} has no table called ${name}`);
  return cellsOf(table);
}

/**
 * Writes `rows`, the first of which is the head, into `document`. In CI nothing is written: it fails if the document has
 * another table. `isSame` compares a cell that is there with the one to be written.
 */
export function checkTable(
  document: string,
  name: string,
  rows: readonly (readonly string[])[],
  isSame = (before: string, now: string) => before === now,
): void {
  const before = writtenTable(document, name);
  const isCurrent =
    before.length === rows.length &&
    rows.every((row, y) => row.every((cell, x) => isSame(before[y]?.[x] ?? "", cell)));
  if (isCurrent) return;
  if (process.env.CI) {
    const print = (table: readonly (readonly string[])[]) => table.map((row) => row.join(" | ")).join("\n");
    throw new Error(
      `${document} has another table called ${name}: run the tests once outside CI, which writes it\n` +
        `there:\n${print(before)}\nfound:\n${print(rows)}`,
    );
  }
  const [head = [], ...body] = rows.map((row) => `| ${row.join(" | ")} |`.replace(/ {2,}\|/g, " |"));
  const line = rows[0]?.map(() => "---").join(" | ") ?? "";
  const table = [head, `| ${line} |`, ...body].join("\n");
  const file = join(root, document);
  const text = readFileSync(file, "utf8");
  writeFileSync(
    file,
    text.replace(pattern(name), (_, begin: string, _old, end: string) => begin + table + end),
  );
}
