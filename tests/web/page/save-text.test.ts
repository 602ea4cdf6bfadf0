// Texts as files: Markdown and HTML show exactly the written text.
// @vitest-environment happy-dom
import { HtmlRenderer, Parser } from "commonmark";
import { expect, it } from "vitest";
import type { Tree } from "../../../web/page/document/tree.js";
import {
  alternativesOf,
  fileName,
  sharedLength,
  wordsBefore,
} from "../../../web/page/library/alternatives.js";
import { asHtml } from "../../../web/page/library/as-html.js";
import { asMarkdown, escapeMarkdown } from "../../../web/page/library/as-markdown.js";

const kept = (text: string, written: (readonly [number, number])[] = []) => ({ text, caret: 0, written });

/** The text of `markdown` as CommonMark's reference parser reads it. */
function rendered(markdown: string): Document {
  const html = new HtmlRenderer().render(new Parser().parse(markdown));
  return new DOMParser().parseFromString(`<!doctype html><body>${html}`, "text/html");
}

const tree: Tree = {
  branches: [
    { id: 0, parent: null, name: "First", kept: kept("The dog ran home. It slept.") },
    { id: 1, parent: 0, name: "“cat” at 4", kept: kept("The dog ran away.", [[8, 17]]) },
    { id: 2, parent: 1, name: "other", kept: kept("The dogs came.") },
  ],
  current: 0,
};

it("the alternatives are the branches except the current one", () => {
  expect(alternativesOf(tree).map(({ depth }) => depth)).toEqual([1, 2]);
  expect(alternativesOf({ ...tree, current: 2 }).map(({ name }) => name)).toEqual(["First", "“cat” at 4"]);
});

it.each([
  ["", "", 0],
  ["same", "same", 4],
  ["a b", "a", 1],
  ["ab", "a", 0],
  ["x 😀", "x 😁", 2], // they begin with the same half
])("%j and %j share the right part", (one, other, length) => {
  expect(sharedLength(one, other)).toBe(length);
  expect(sharedLength(other, one)).toBe(length);
});

it("branches are described by the words before them", () => {
  expect(wordsBefore("One line.\nThe dog ran home", 18)).toBe("The dog");
  expect(wordsBefore(`${"word ".repeat(30)}end`, 500)).toMatch(/^…(word ){5,}end$/);
  expect(wordsBefore("text", 0)).toBe("");
});

it.each([
  ["Once upon a time, there was a dog", "once-upon-a-time-there-was.txt"],
  ["../../etc/passwd", "etc-passwd.txt"],
  ["Ärger & 日本語", "ärger-日本語.txt"],
  [" …", "text.txt"],
  ["x".repeat(200), `${"x".repeat(48)}.txt`],
])("the file name of %j is valid", (text, name) => {
  expect(fileName(text, "txt")).toBe(name);
});

it.each([
  "# no heading\n## none",
  "* no list\n- none\n+ none\n1. none\n2) none",
  "> no quote, `no code`, *no* _emphasis_, **at all**, ~~here~~",
  "[no](link) ![no](image) <b>no tag</b> &amp; no entity; https://example.org",
  "    no code block\n\tnone",
  "setext?\n===\nrule?\n---\n***\n___",
  "```\nno fence\n```\n~~~\n",
  "a backslash \\ and \\* two | pipes | $x$",
  "1986. A year\n12) a number\n#hash",
])("Markdown preserves every letter of %j", (text) => {
  const page = rendered(escapeMarkdown(text));
  const letters = (value: string) => value.replace(/\s+/g, "");
  expect(letters(page.body.textContent)).toBe(letters(text));
  expect([...page.body.querySelectorAll("*")].map(({ tagName }) => tagName)).not.toContain("EM");
  const tags = new Set([...page.body.querySelectorAll("*")].map(({ tagName }) => tagName));
  expect([...tags].filter((tag) => tag !== "P" && tag !== "BR")).toEqual([]);
});

it("Markdown keeps lines and paragraphs, and names the branches after the text", () => {
  const page = rendered(escapeMarkdown("one\ntwo\n\nthree\n\n\nfour  \nfive"));
  const paragraphs = [...page.querySelectorAll("p")].map(({ innerHTML }) => innerHTML.replace(/\s/g, ""));
  expect(paragraphs).toEqual(["one<br>two", "three", "four<br>five"]);
  const whole = rendered(asMarkdown(tree.branches[0]?.kept ?? kept(""), alternativesOf(tree)));
  const shown = [...whole.body.children].map((each) => each.textContent.trim()).filter(Boolean);
  expect(shown).toEqual([
    "The dog ran home. It slept.",
    "Alternatives",
    "“cat” at 4",
    "After “The dog ran”:",
    "away.",
    "other",
    "After “The”:",
    "dogs came.",
  ]);
  expect(whole.querySelectorAll("h3")).toHaveLength(2);
  expect(asMarkdown(kept("alone"), [])).toBe("alone\n");
});

const facts = { title: "the dog", model: "demo", language: "en" };
const parse = (html: string) => new DOMParser().parseFromString(html, "text/html");

it("the web page shows the text in two colours, and its branches", () => {
  const text = "The dog ran home. It slept.";
  const written = [[17, 27] as const, [4, 8] as const];
  const page = parse(asHtml(kept(text, written), alternativesOf(tree), facts));
  const textsOf = (selector: string) =>
    [...page.querySelectorAll(selector)].map(({ textContent }) => textContent);
  expect(page.querySelector(".text")?.textContent).toBe(text);
  expect(page.querySelector(".text")?.getAttribute("dir")).toBe("auto");
  expect(page.querySelector("style")?.textContent).toMatch(/\.text \{[^}]*unicode-bidi: plaintext/); // each paragraph has its own direction
  expect(textsOf(".text .model")).toEqual(["dog ", " It slept.", "away."]);
  expect(textsOf("summary")).toEqual(["“cat” at 4", "other"]);
});

it("the web page names the model only if it wrote a part of the text or a branch", () => {
  const note = (written: [number, number][], branches: typeof tree | null = null) =>
    parse(asHtml(kept("The dog ran home.", written), branches ? alternativesOf(branches) : [], facts))
      .querySelector("main > .note")
      ?.textContent.includes("demo");
  expect(note([[4, 8]])).toBe(true);
  expect(note([], tree)).toBe(true);
  expect(note([])).toBe(undefined);
});

it("the web page escapes hostile text", () => {
  const hostile = `</div></style><script>alert(1)</script><img src=x onerror="alert(1)">&lt;'"\0-->`;
  const branches = [{ name: hostile, kept: kept(hostile), shared: 0, depth: 0 }];
  const html = asHtml(kept(hostile, [[3, 20]]), branches, { ...facts, title: hostile, model: hostile });
  const page = parse(html);
  expect(page.querySelectorAll("script, img")).toHaveLength(0);
  const shown = hostile.replace("\0", "\ufffd");
  expect(page.querySelector(".text")?.textContent).toBe(shown);
  expect(page.querySelector("summary")?.textContent).toBe(shown);
  expect(page.title).toBe(shown);
  expect(html).toContain("default-src 'none'; style-src 'unsafe-inline'");
});
