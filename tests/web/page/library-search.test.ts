// The preview of a text in the library, and the search in it.
import { describe, expect, it } from "vitest";
import { formatAgo } from "../../../web/page/language/ago.js";
import { countWords, find, firstWords } from "../../../web/page/library/search.js";

describe("the name of a text without one", () => {
  it.each([
    ["  Once upon\na time ", "Once upon a time"],
    ["One two three four five six seven eight", "One two three four five six seven…"],
    ["", ""],
    [" \n ", ""],
    ["🐈".repeat(60), `${"🐈".repeat(50)}…`],
    ["word ".repeat(100_000), "word word word word word word word…"],
  ])("%j is shown as %j", (text, name) => {
    expect(firstWords(text)).toBe(name);
  });
});

it.each([
  ["", 0],
  ["Don't stop: it is well-known.", 5],
  ["Ça va, 3.5 %?", 4],
  ["— …", 0],
  ["हिन्दी में", 2],
])("%j is counted as %i words", (text, count) => {
  expect(countWords(text)).toBe(count);
});

describe("search", () => {
  it.each([
    ["Le Café est fermé", "cafe EST", "Café est"],
    ["Cafe\u0301 noir", "café", "Cafe\u0301"],
    ["Eine Straße", "STRASSE", "Straße"],
    ["Eine STRASSE", "straße", "STRASSE"],
    ["ο δρόμος", "ΔΡΟΜΟΣ", "δρόμος"],
    ["two\nlines", "two lines", "two\nlines"],
    ["A cat 🐈 sat", "🐈 SAT", "🐈 sat"],
    ["é", "e", "é"],
    ["x".repeat(300) + "Ärger", "arger", "Ärger"],
  ])("in %j, %j finds %j", (text, query, match) => {
    expect(find(text, query)?.match).toBe(match);
  });

  it.each(["dog", "", "  ", "."])("in a text without it, %j finds nothing", (query) => {
    expect(find("A cat sat", query)).toBeUndefined();
  });

  it("a passage has whole words around what was found, and marks where it was cut", () => {
    const text = `${"one two ".repeat(20)}needle${" three four".repeat(20)}`;
    expect(find(text, "needle")).toEqual({
      before: "…two one two one two one two one two ",
      match: "needle",
      after: " three four three four three four three…",
    });
    expect(find("A needle.", "needle")).toEqual({ before: "A ", match: "needle", after: "." });
  });
});

it.each([
  [0, "now"],
  [-5, "now"],
  [59, "now"],
  [60, "1 minute ago"],
  [3 * 3600, "3 hours ago"],
  [86_400, "yesterday"],
  [9 * 86_400, "9 days ago"],
  [40 * 86_400, "Dec 22, 2025"],
])("%i seconds back are shown as %j", (seconds, shown) => {
  const now = Date.UTC(2026, 0, 31, 12);
  expect(formatAgo(now - seconds * 1000, now)).toBe(shown);
});
