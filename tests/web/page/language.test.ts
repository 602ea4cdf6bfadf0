// The page's words: the same ones in every language, and none outside of their files.
import { expect, it } from "vitest";
import { readdirSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import ts from "typescript";
import * as german from "../../../web/page/language/de.js";
import * as english from "../../../web/page/language/en.js";
import { percent } from "../../../web/page/language/quantities.js";
import { fill } from "../../../web/page/language/phrases.js";
import { insideWords } from "../../../web/src/figures/index.js";
import { inEnglish } from "../../../web/vite.language.js";

type Section = Readonly<Record<string, string | Readonly<Record<string, string>>>>;

const { scriptless, ...translated } = english;
const ofPage = Object.entries(translated as Readonly<Record<string, Section>>);
/** All sections, including the words of the figures, whose English comes with the package. */
const sections = [...ofPage, ["figures", insideWords as Section] as const];
const folder = resolve(import.meta.dirname, "../../../web/page");

/** The names in braces of a phrase, and of each of its forms. */
const namesIn = (phrase: Section[string]): string[] =>
  [...JSON.stringify(phrase).matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => name);

it.each(sections)("the German section %s has the same values, and German plural forms", (name, section) => {
  const other: Section = german[name as keyof typeof german];
  const { pluralCategories } = new Intl.PluralRules("de").resolvedOptions();
  for (const [key, phrase] of Object.entries(section)) {
    const found = other[key] ?? "";
    expect(new Set(namesIn(found)), key).toEqual(new Set(namesIn(phrase)));
    if (typeof found !== "string")
      expect(Object.keys(found).sort(), key).toEqual([...pluralCategories].sort());
  }
});

it("the German translation does not copy the English", () => {
  const same = sections.flatMap(([name, section]) => {
    const other = Object.values(german[name as keyof typeof german] as Section);
    return Object.values(section)
      .filter((phrase) => other.includes(phrase))
      .map(String);
  });
  const isOfWords = (phrase: string) => /[a-z]/i.test(phrase.replace(/\{\w+\}/g, "")); // not of values alone
  expect(same.filter((phrase) => phrase.split(" ").length > 2 && isOfWords(phrase))).toEqual([]);
});

it.each([
  [1, undefined, "100%"],
  [0.82, undefined, "82%"],
  [0.82, 1, "82.0%"],
  [0.031, undefined, "3.1%"],
  [0.0004, undefined, "< 0.1%"],
  [0, undefined, "0.0%"],
])("the share %d with %s digits is written as %s", (share, digits, text) => {
  expect(percent(share, digits)).toBe(text);
});

it("a phrase contains its values, with readable numbers, in the form for its count", () => {
  expect(fill("{loaded} of {total}", { loaded: "1 MB", total: 12_345 }, "en")).toBe("1 MB of 12,345");
  const forms = { one: "{count} Vorschlag", other: "{count} Vorschläge" };
  const filled = [0, 1, 2].map((count) => fill(forms, { count }, "de"));
  expect(filled).toEqual(["0 Vorschläge", "1 Vorschlag", "2 Vorschläge"]);
});

/** Content, not words of the page: the beginnings that the English demo continues, and a model's name. */
const content = new Set([
  "Once upon a time",
  ...["Once upon a time…", "Tom and his dog…", "The old king…", "One day, Lily found…"],
  "openai-community/gpt2",
  "gpt2-wasm texts", // in a file of texts
]);

/** Calls and assignments whose texts are not shown. */
const unread =
  /^(?:querySelector(?:All)?|closest|matches|matchMedia|byId|Error|RegExp|getPropertyValue|className|class|type|style|statusText|phrase)$/;

/** Names whose texts the page shows, so that even one word is one of its words. */
const shown =
  /^(?:setTranslatedText|say|speak|speakNow|showError|showStage|tell|fact|textContent|innerText|ariaLabel|title|placeholder|label|alt)$/;

/** The owner of a text: the call, the property or the variable around it. */
function ownerOf(node: ts.Node): string {
  const { parent } = node;
  if (ts.isCallExpression(parent) || ts.isNewExpression(parent)) {
    const { expression } = parent;
    return ts.isPropertyAccessExpression(expression) ? expression.name.text : expression.getText();
  }
  if (ts.isBinaryExpression(parent) && parent.operatorToken.kind === ts.SyntaxKind.EqualsToken) {
    const { left } = parent;
    return ts.isPropertyAccessExpression(left) ? left.name.text : left.getText();
  }
  if (ts.isVariableDeclaration(parent)) return parent.name.getText();
  if (ts.isArrowFunction(parent)) return ownerOf(parent);
  if (ts.isPropertyAssignment(parent)) return parent.name.getText().replaceAll('"', "");
  if (ts.isConditionalExpression(parent) || ts.isParenthesizedExpression(parent)) return ownerOf(parent);
  return "";
}

/** The words in `source` that the page shows, as far as the code shows it. */
function wordsIn(source: string): string[] {
  const found: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node) || ts.isTypeNode(node)) return;
    if (ts.isNewExpression(node) && node.expression.getText().endsWith("Error")) return; // its message is for developers
    if (ts.isStringLiteral(node) && ts.isPropertyAssignment(node.parent) && node.parent.name === node) return;
    const isText = ts.isStringLiteralLike(node) || ts.isTemplateExpression(node);
    if (isText) {
      const pieces = ts.isTemplateExpression(node)
        ? [node.head.text, ...node.templateSpans.map(({ literal }) => literal.text)]
        : [node.text];
      const tag = /<[^<>]*>/g;
      const parts = pieces.join("\0").replace(tag, "").split("\0");
      const text = parts.join(" … ").trim();
      const owner = ownerOf(node);
      const isSentence = parts.some((part) =>
        /\p{L}{2,}[,:]? +\p{L}{2,}|\p{L}{2,}[.!?…]$|^[ ,:]+\p{L}{2,}/u.test(part),
      );
      const isShown = shown.test(owner) && /\p{L}{2,}/u.test(parts.join(""));
      if ((isShown || (isSentence && !unread.test(owner))) && !content.has(text)) found.push(text);
    }
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile("page.ts", source, ts.ScriptTarget.ESNext, true));
  return found;
}

/** The language files, and the words by which the page detects a language. */
const exempt = /^language[\\/](?:en|de|foreign)\.ts$/;

const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter(
  (file) => file.endsWith(".ts") && !exempt.test(file),
);

it.each(files)("%s contains no words of the page", (file) => {
  expect(wordsIn(readFileSync(resolve(folder, file), "utf8"))).toEqual([]);
});

it.each([
  'say(() => "Copied.")',
  'setTranslatedText(button, () => "Load")',
  "say(`Stopped after ${tokens} tokens.`)",
  'button.textContent = "Load";',
  'const repair = { label: isNew ? "Again" : other };',
  'const sentence = "The model ended the text.";',
  'item.append(" What would help:", change);',
])("the search for words in the sources finds %s", (source) => {
  expect(wordsIn(source)).not.toEqual([]);
});

it("index.html contains no words of its own", () => {
  const html = readFileSync(resolve(folder, "index.html"), "utf8").replace(
    /<!--.*?-->|<code>.*?<\/code>/gs,
    "",
  );
  const texts = [...html.matchAll(/>([^<]*)</g)].map(([, text = ""]) => text.trim());
  const attributes = [...html.matchAll(/\s(aria-label|title|placeholder|alt)="([^"]*)"/g)]
    .filter(([, , value = ""]) => !content.has(value))
    .map(([all]) => all);
  const words = texts.filter((text) => /\p{L}{2,}/u.test(text) && !content.has(text) && text !== "GPT-2");
  expect([...words, ...attributes]).toEqual([]);
});

it("index.html gets its English from the build, which refuses unknown phrases and second ones", () => {
  expect(inEnglish('<p class="a" data-phrase="offline"></p>')).toBe(
    `<p class="a" data-phrase="offline">${english.page.offline}</p>`,
  );
  expect(inEnglish('<b data-phrases="title:undo aria-label:undo"></b>')).toContain(
    ' title="Undo" aria-label="Undo"',
  );
  expect(inEnglish('<p data-english="allow"></p>')).toBe(`<p>${scriptless.allow}</p>`);
  expect(() => inEnglish('<p data-phrase="nothing"></p>')).toThrow('the phrase "nothing", which en.ts');
  expect(() => inEnglish('<p data-phrase="undo">Undo</p>')).toThrow("expected nothing in");
});

it("index.html has every phrase of the page, and no other", () => {
  const html = readFileSync(resolve(folder, "index.html"), "utf8");
  const asked = [...html.matchAll(/data-phrase(?:s="([^"]*)"|="(\w*)")/g)].flatMap(([, pairs, key]) =>
    pairs === undefined ? [key] : pairs.split(" ").map((pair) => pair.replace(/.*:/, "")),
  );
  expect([...new Set(asked)].sort()).toEqual(Object.keys(english.page).sort());
});

it("every phrase is used only by parts that load its section", () => {
  const sources = readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".ts") && !/^language[\\/](?:en|de)\.ts$/.test(file))
    .map((file) => readFileSync(resolve(folder, file), "utf8"));
  const unasked = ofPage
    .filter(([name]) => name !== "page")
    .flatMap(([name, section]) => {
      const code = sources
        .filter((source) => new RegExp(`(language|"\\.)/${name}\\.js"`).test(source))
        .join("\n");
      // A key with a point may be put together: phrase(`finish.${reason}`).
      return Object.keys(section)
        .filter((key) => !code.includes(`"${key}"`) && !code.includes(`\`${key.replace(/\..*/, "")}.`))
        .map((key) => `${name}: ${key}`);
    });
  expect(unasked).toEqual([]);
});
