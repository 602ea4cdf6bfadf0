// A text as one HTML file: in two colours, with its branches to open. It needs no other file, and runs no script.
import type { KeptText } from "../document/kept-text.js";
import { phrase } from "../language/editor.js";
import { wordsBefore, type Alternative } from "./alternatives.js";

const escapes: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
  "\0": "\ufffd", // not allowed in HTML
  "\r": "&#13;",
};

export const escapeHtml = (text: string): string =>
  text.replace(/[&<>"'\0\r]/g, (sign) => escapes[sign] ?? sign);

const style = `
:root { color-scheme: light dark; }
body { max-width: 40rem; margin: 0 auto; padding: 2rem 1rem; background: light-dark(#faf8f3, #171614);
  color: light-dark(#1c1b19, #eae7df); font: 1.125rem/1.6 "Iowan Old Style", Palatino, "Noto Serif", Georgia, serif; }
.text { white-space: pre-wrap; overflow-wrap: anywhere; unicode-bidi: plaintext; }
.model { color: light-dark(#1d5566, #a3d3e2); }
h1, h2, summary, .note { font-family: system-ui, sans-serif; font-size: 1rem; }
summary { cursor: pointer; font-weight: 600; padding: 0.25rem 0; overflow-wrap: anywhere; }
.note { color: light-dark(#66625a, #a6a195); font-size: 0.875rem; }
details { border-top: 1px solid light-dark(#dfdacd, #3a3832); padding: 0.5rem 0; }
h1, .unseen { position: absolute; clip-path: inset(50%); }
@media print { body { background: none; color: black; } .model { color: black; text-decoration: underline dotted; } }
`;

/** Marks the start of the model's text. A text cannot contain this mark, because its `<` is escaped. */
const modelInk = '<span class="model">';

/** The characters from `start` on, each part in its author's colour. */
function inkedHtml({ text, written }: KeptText, start = 0): string {
  let html = "";
  let place = start;
  const add = (to: number, isModel: boolean) => {
    const part = escapeHtml(text.slice(place, to));
    html += isModel && part !== "" ? `${modelInk}${part}</span>` : part;
    place = Math.max(place, to);
  };
  for (const [from, to] of [...written].sort(([one], [other]) => one - other)) {
    if (to <= place) continue;
    if (from > place) add(from, false);
    add(to, true);
  }
  add(text.length, false);
  return html;
}

function alternativeHtml({ name, kept, shared, depth }: Alternative): string {
  const before = wordsBefore(kept.text, shared);
  return `<details style="margin-left: ${Math.min(depth, 6)}rem">
<summary><bdi>${escapeHtml(name)}</bdi></summary>
${before === "" ? "" : `<p class="note">${phrase("after", { text: `<bdi>${escapeHtml(before)}</bdi>` })}</p>\n`}<div class="text" dir="auto">${inkedHtml(kept, shared)}</div>
</details>
`;
}

export interface HtmlFacts {
  title: string;
  /** The model that wrote last, or the current one if none has written since the page was opened. */
  model: string;
  /** The language of the page, which the notes in the file have. */
  language: string;
}

/** The whole file. */
export function asHtml(
  kept: KeptText,
  alternatives: readonly Alternative[],
  { title, model, language }: HtmlFacts,
): string {
  const branches =
    alternatives.length === 0
      ? ""
      : `<h2>${phrase("savedBranches")}</h2>\n${alternatives.map(alternativeHtml).join("")}`;
  const colour = `${modelInk}${phrase("thisColour")}</span>`;
  const by = phrase("writtenBy", { colour, model: escapeHtml(model) });
  const shown = inkedHtml(kept);
  const hasModels = (shown + branches).includes(modelInk);
  return `<!doctype html>
<html lang="${escapeHtml(language)}">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)}</title>
<style>${style}</style>
</head>
<body>
<main>
<h1>${escapeHtml(title)}</h1>
<div class="text" dir="auto">${shown}</div>
${hasModels ? `<p class="note">${by}</p>\n` : ""}${branches}</main>
</body>
</html>
`;
}
