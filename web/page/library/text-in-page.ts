// The text that a page in one file was saved with.
import { parseKept } from "../document/parse-kept.js";
import type { KeptText } from "../document/kept-text.js";
import { hasFlag, storeFlag } from "../state/stored-flags.js";

/** Its name in a page in one file, among the files of the model. */
export const textFile = "text.json";

export interface TextInPage {
  kept: KeptText;
  /** What is stored beside a text. */
  beside: unknown;
}

function parse(json: string): { id: string; content: unknown } {
  const { id, content } = Object(JSON.parse(json)) as Record<string, unknown>;
  return { id: String(id), content };
}

/** `content` for `takeTextInPage`. It gets a new id: a file that was saved again has another text. */
export const textForPage = (content: unknown): string =>
  JSON.stringify({ id: String(crypto.getRandomValues(new Uint32Array(2))), content });

/**
 * The text in this page, unless this browser has shown it before: then its stored form is used. Throws if it cannot be
 * read.
 */
export function takeTextInPage(): TextInPage | undefined {
  const parts = document.querySelectorAll<HTMLScriptElement>(`script[data-file="${textFile}"]`);
  if (parts.length === 0) return undefined;
  const characters = [...parts].map((part) => atob(part.text)).join("");
  const bytes = Uint8Array.from(characters, (character) => character.charCodeAt(0));
  const { id, content } = parse(new TextDecoder().decode(bytes));
  const kept = parseKept(content);
  if (!kept) throw new Error("the text in this page is damaged");
  if (hasFlag(`shown ${id}`)) return undefined;
  storeFlag(`shown ${id}`);
  return { kept, beside: content };
}
