// @vitest-environment happy-dom
// CodeMirror's own words, which the page replaces by those of its language.
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { getSearchQuery, openSearchPanel, replaceAll, SearchQuery, setSearchQuery } from "@codemirror/search";
import { EditorState } from "@codemirror/state";
import { EditorView } from "@codemirror/view";
import { expect, it, onTestFinished } from "vitest";
import { searchAndReplace } from "../../../web/page/document/find.js";
import { currentLanguage, wordsOf } from "../../../web/page/language/translation.js";

/** Phrases of what the page hides or does not use. */
const unused = ["all", "regexp", "by word", "Go to line", "go", "Control character"];

const packages = ["commands", "search", "view"];
const phrases = packages.flatMap((name) => {
  const file = resolve(import.meta.dirname, `../../../node_modules/@codemirror/${name}/dist/index.js`);
  const calls = readFileSync(file, "utf8").matchAll(/\bphrase\((?:view, )?"([^"]+)"/g);
  return [...calls].map(([, phrase = ""]) => phrase);
});

it("each of CodeMirror's phrases is replaced in the page's language", async () => {
  const english = currentLanguage.peek();
  onTestFinished(() => void (currentLanguage.value = english));
  currentLanguage.value = { language: "de", words: await wordsOf("de") };
  const state = EditorState.create({ extensions: searchAndReplace });
  expect(phrases).toContain("Selection deleted");
  expect([...new Set(phrases)].filter((each) => state.phrase(each) === each).sort()).toEqual(unused.sort());
});

it.each([
  ["a", "", "Replaced: 3."],
  ["c", "b", "0"],
])("after all %j become %j, the search shows %j", (search, replace, shown) => {
  const view = new EditorView({ doc: "aa a", extensions: searchAndReplace, parent: document.body });
  openSearchPanel(view);
  expect(getSearchQuery(view.state).literal).toBe(true); // what is typed is not an escape
  view.dispatch({ effects: setSearchQuery.of(new SearchQuery({ search, replace })) });
  replaceAll(view);
  expect(view.dom.querySelector(".find-count")?.textContent).toBe(shown);
  view.destroy();
});
