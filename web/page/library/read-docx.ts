// The text of a Word document, one line per paragraph and per row of a table. Fetched with the first such file.
import { unzipSync } from "fflate";

/** Bytes of unpacked text, so that a small file cannot fill the memory. */
const mostBytes = 64e6;

/** Settings, deleted or moved text, and the copies of shapes for older readers. */
const skipped = new Set(["pPr", "rPr", "tblPr", "sectPr", "del", "moveFrom", "Fallback", "instrText"]);

function textOf(element: Element): string {
  switch (element.localName) {
    case "t":
      return element.textContent;
    case "tab":
      return "\t";
    case "br":
    case "cr":
      return "\n";
    case "noBreakHyphen":
      return "-";
  }
  const inside = [...element.children].filter(({ localName }) => !skipped.has(localName));
  if (element.localName === "tr") return `${inside.map(textOf).join("\t")}\n`;
  const text = inside.map(textOf).join("");
  if (element.localName === "tc") return text.trim().replace(/\s*\n\s*/g, " ");
  return element.localName === "p" ? `${text}\n` : text;
}

/** Throws if `bytes` are no Word document; one with a password is none. */
export function textOfDocx(bytes: Uint8Array): string {
  const files = unzipSync(bytes, {
    filter: ({ name, originalSize }) => /^word\/document\d*\.xml$/.test(name) && originalSize <= mostBytes,
  });
  const [xml] = Object.values(files);
  const parsed = new DOMParser().parseFromString(new TextDecoder().decode(xml), "application/xml");
  const body = [...parsed.documentElement.children].find(({ localName }) => localName === "body");
  if (!body || parsed.querySelector("parsererror")) throw new TypeError("word/document.xml has no text");
  return textOf(body).replace(/\n+$/, "");
}
