// A text as Markdown (CommonMark) that shows it character by character, with its branches as alternatives.
import type { KeptText } from "../document/kept-text.js";
import { phrase } from "../language/editor.js";
import { wordsBefore, type Alternative } from "./alternatives.js";

/** Characters with a special meaning anywhere in a line. */
const anywhere = /[\\`*_[\]<>&~|$]/g;
/** Characters with a special meaning at the start of a line: headings, lists, quotes, rules. */
const atStart = /^(#{1,6}(?=\s|$)|[+-](?=\s|$)|[-=]+(?=\s*$))/;
const number = /^(\d{1,9})([.)])(?=\s|$)/;

function escapeLine(line: string): string {
  const body = line.replace(/^[ \t]+/, "").replace(anywhere, "\\$&");
  const indent = line.slice(0, line.length - line.trimStart().length).replace(/[ \t]/g, "&nbsp;");
  return indent + (indent ? body : body.replace(atStart, "\\$&").replace(number, "$1\\$2"));
}

/** Escapes `text` line by line; a backslash ends each line except the last. */
export function escapeMarkdown(text: string): string {
  const lines = text.split("\n");
  return lines
    .map((line, place) => {
      if (line.trim() === "") return "";
      const next = lines[place + 1]?.trim() ?? "";
      return escapeLine(line.trimEnd()) + (next === "" ? "" : "\\");
    })
    .join("\n");
}

/** The whole file. */
export function asMarkdown({ text }: KeptText, alternatives: readonly Alternative[]): string {
  const parts = [escapeMarkdown(text)];
  if (alternatives.length > 0) parts.push("---", `## ${phrase("alternatives")}`);
  for (const { name, kept, shared } of alternatives) {
    const before = wordsBefore(kept.text, shared);
    parts.push(`### ${escapeMarkdown(name.replace(/\s+/g, " "))}`);
    if (before !== "") parts.push(`> ${phrase("after", { text: escapeMarkdown(before) })}`);
    parts.push(escapeMarkdown(kept.text.slice(shared).trimStart()));
  }
  return `${parts.filter((part) => part !== "").join("\n\n")}\n`;
}
