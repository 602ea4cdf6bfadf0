// The preview of a text in the library, and the search in it.
import { expect, it, vi } from "vitest";
import { formatAgo } from "../../../web/page/language/ago.js";
import { countWords, firstWords } from "../../../web/page/library/preview.js";
import { inSlices, SearchedText } from "../../../web/page/library/search.js";

/** The result of a search, and its number of steps. */
function search(text: SearchedText, query: string) {
  const steps = text.find(query);
  let count = 1;
  let step = steps.next();
  for (; !step.done; step = steps.next()) count += 1;
  return { passage: step.value, count };
}
const find = (text: string, query: string) => search(new SearchedText(text), query).passage;

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

it.each([
  ["Don't stop: it is well-known.", 5],
  ["Ça va, 3.5 %?", 4],
  ["— …", 0],
  ["हिन्दी में", 2],
])("%j is counted as %i words", (text, count) => {
  expect(countWords(text)).toBe(count);
});

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

it("a passage shows the match between whole words, and marks where it was cut", () => {
  const text = `${"one two ".repeat(20)}needle${" three four".repeat(20)}`;
  expect(find(text, "needle")).toEqual({
    before: "…two one two one two one two one two ",
    match: "needle",
    after: " three four three four three four three…",
  });
  expect(find("A needle.", "needle")).toEqual({ before: "A ", match: "needle", after: "." });
});

/** UTF-16 code units that are folded by `work`, one call after another. */
function foldedBy(work: () => void): number[] {
  const folding = vi.spyOn(String.prototype, "normalize");
  work();
  const units = folding.mock.contexts.map((text) => String(text).length);
  folding.mockRestore();
  return units;
}

const sum = (all: readonly number[]) => all.reduce((total, each) => total + each, 0);
const long = "Le Café est fermé, la mer est là. ".repeat(30_000);

it("a search folds a small part at a time, and the next search folds nothing again", () => {
  const text = new SearchedText(long);
  const first = foldedBy(() => expect(search(text, "absent").passage).toBeUndefined());
  expect(sum(first)).toBe(long.length + "absent".length);
  expect(Math.max(...first)).toBeLessThan(100_000);
  expect(foldedBy(() => search(text, "other"))).toEqual(["other".length]);
});

it("a search stops folding at its first match, and folds little to locate it", () => {
  const text = new SearchedText(`${"é".repeat(200_000)}Ärger${long}`);
  const units = sum(foldedBy(() => expect(search(text, "arger").passage?.match).toBe("Ärger")));
  expect(units).toBeLessThan(600_000);
});

it("a match is found wherever the text is divided, with its accents", () => {
  const letters = "x".repeat(70_000);
  for (let before = 65_520; before < 65_545; before += 1) {
    const text = new SearchedText(`${letters.slice(0, before)}Ga\u0308nse 🐈!${letters}`);
    const { passage, count } = search(text, "gänse 🐈");
    expect(passage?.match).toBe("Ga\u0308nse 🐈");
    expect(count).toBeLessThan(4);
  }
  const whole = "Straße ".repeat(30_000);
  expect(search(new SearchedText(whole), whole.toUpperCase()).passage?.match).toBe(whole.trim());
});

it("a search pauses whenever it has worked for some milliseconds, and ends when it is aborted", async () => {
  let now = 0;
  vi.spyOn(performance, "now").mockImplementation(() => (now += 5)); // each step takes 5 ms
  const pauses = vi.spyOn(globalThis, "setTimeout");
  const text = new SearchedText(long);
  const { count } = search(text, "absent");
  const controller = new AbortController();
  await inSlices(text.find("absent"), controller.signal);
  expect(count).toBeGreaterThan(10);
  const least = (count - 1) / 2;
  expect(pauses.mock.calls.length).toBeGreaterThanOrEqual(least);
  const folding = vi.spyOn(String.prototype, "normalize");
  const aborted = inSlices(new SearchedText(long).find("absent"), controller.signal);
  const before = folding.mock.calls.length;
  controller.abort();
  await expect(aborted).rejects.toMatchObject({ name: "AbortError" });
  expect(folding.mock.calls.length).toBe(before);
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
