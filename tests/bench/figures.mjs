// Evaluates and prints measurements.

/** @param {readonly number[]} values */
export const median = (values) => values.toSorted((a, b) => a - b)[values.length >> 1] ?? NaN;

/**
 * A table in Markdown.
 * @param {readonly string[]} heads
 * @param {readonly (readonly string[])[]} rows
 */
export const tableOf = (heads, rows) =>
  [heads, heads.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |\n`).join("");
