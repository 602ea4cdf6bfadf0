// @vitest-environment happy-dom
// The files that people import: which become texts, and what the others are told.
import { strToU8, zipSync } from "fflate";
import { expect, it } from "vitest";
import { isOfModel } from "../../../web/page/library/kinds-of-texts.js";
import { readTexts } from "../../../web/page/library/read-texts.js";

const docx = (body: string) =>
  zipSync({
    "word/document.xml": strToU8(`<w:document xmlns:w="urn:w"><w:body>${body}</w:body></w:document>`),
    "word/styles.xml": strToU8("<x/>"),
  });
const run = (text: string) => `<w:r><w:rPr/><w:t>${text}</w:t></w:r>`;
const paragraph = (...inside: string[]) => `<w:p><w:pPr><w:tab/></w:pPr>${inside.join("")}</w:p>`;
const cell = (...texts: string[]) => `<w:tc>${texts.map((text) => paragraph(run(text))).join("")}</w:tc>`;

it.each<[string, (string | Uint8Array)[], string]>([
  ["a.txt", ["One\r\nTwo\rü"], "One\nTwo\nü"],
  ["a.b.MD", ["\ufeff# One\n"], "# One\n"],
  ["notes", ["One"], "One"],
  ["a.txt", [new Uint8Array([0xff, 0xfe, 0x41, 0, 0xfc, 0])], "Aü"],
  ["a.text", [new Uint8Array([0xfe, 0xff, 0, 0x41, 0, 0xfc])], "Aü"],
  ["a.txt", [new Uint8Array([0x41, 0xfc])], "Aü"],
  [
    "a.docx",
    [docx(paragraph(run("One "), run("two")) + paragraph() + paragraph(run("a&amp;b")))],
    "One two\n\na&b",
  ],
  [
    "a.docx",
    [docx(paragraph("<w:moveFrom><w:r><w:t>x</w:t></w:r></w:moveFrom><w:r><w:tab/></w:r>", run("b")))],
    "\tb",
  ],
  [
    "a.docx",
    [docx(`<w:tbl><w:tr>${cell("a", "b")}${cell("c")}</w:tr><w:tr>${cell("d")}</w:tr></w:tbl>`)],
    "a b\tc\nd",
  ],
])("the file %s is read as a text", async (name, parts, text) => {
  const [read, ...others] = await readTexts([new File(parts as BlobPart[], name)]);
  expect(others).toEqual([]);
  expect(read?.content).toEqual({ text, caret: text.length, written: [] });
  expect(read?.name).toBe(name.replace(/\.\w+$/, ""));
});

it.each([
  ["a.pdf", "%PDF", "it is no text for the page; expected a .txt, .md, .docx or .json file"],
  ["a.txt", "One\0", "it is no text"],
  ["a.docx", docx("<w:p>"), "it is damaged"],
  ["a.docx", "PK no", "it is damaged, has a password, or is no Word document"],
  ["a.json", "Once", "it is damaged, or this page has not exported it"],
  ["a.txt", new Uint8Array(17e6), "it is larger than 16 MB"],
])("the file %s that is no text is refused by its name", async (name, part, why) => {
  await expect(readTexts([new File([part], name)])).rejects.toThrow(`${name}: ${why}`);
});

it("a dropped file of a model is no text", () => {
  const texts = ["a.txt", "config.txt", "c.docx", "texts.json"];
  const names = [...texts, "merges.txt", "README.md", "config.json", "a.gguf", "model.safetensors.000"];
  expect(names.filter((name) => !isOfModel({ name }))).toEqual(texts);
});
