// Reads the texts in files that people import: a file of this page, plain text, Markdown, or a Word document.
import { asLines } from "../document/pieces.js";
import { phrase } from "../language/library.js";
import { messageOf } from "../language/why.js";
import { isPlain } from "./kinds-of-texts.js";
import { parseFile, type FiledText } from "./text-file.js";

/** More would block the page while it is shown. */
const mostBytes = 16e6;

/** UTF-16 has a byte order mark; what is not valid UTF-8 comes from an older Windows. */
function decode(bytes: Uint8Array): string {
  const [first, second] = bytes;
  if (first === 0xff && second === 0xfe) return new TextDecoder("utf-16le").decode(bytes);
  if (first === 0xfe && second === 0xff) return new TextDecoder("utf-16be").decode(bytes);
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return new TextDecoder("windows-1252").decode(bytes);
  }
}

async function textIn(file: File, ending: string): Promise<string> {
  if (file.size > mostBytes) throw new Error(phrase("tooLarge"));
  const bytes = new Uint8Array(await file.arrayBuffer());
  if (ending.toLowerCase() === "docx") {
    const { textOfDocx } = await import("./read-docx.js");
    try {
      return textOfDocx(bytes);
    } catch (error) {
      throw new Error(phrase("noDocx"), { cause: error });
    }
  }
  const text = decode(bytes);
  if (!isPlain(file.name) || text.includes("\0")) throw new Error(phrase("otherFile"));
  return text;
}

async function textsIn(file: File): Promise<FiledText[]> {
  const [, name = file.name, ending = ""] = /^(.+)\.(\w+)$/.exec(file.name) ?? [];
  try {
    if (ending.toLowerCase() === "json") return parseFile(await file.text());
    const text = asLines(await textIn(file, ending));
    return [{ name, changed: Date.now(), content: { text, caret: text.length, written: [] } }];
  } catch (error) {
    throw new Error(phrase("inFile", { file: file.name, why: messageOf(error) }), { cause: error });
  }
}

/** The texts in `files`. Rejects with a clause that names the file and what was expected. */
export const readTexts = async (files: readonly File[]): Promise<FiledText[]> =>
  (await Promise.all(files.map(textsIn))).flat();
