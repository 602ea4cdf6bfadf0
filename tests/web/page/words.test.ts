import { expect, it } from "vitest";
import { firstWordLength, suggestedLength } from "../../../web/page/assistant/words.js";

it.each([
  [" little dog", " little"],
  ["don't go", "don't"],
  ["l’été à", "l’été"],
  ["... and", "..."],
  ["\n\nThe end", "\n\nThe"],
  ["🍓🍓 red", "🍓🍓"],
  ["  ", "  "], // a text of spaces alone is one word
  ["", ""],
])("the first word of %j has the length %j", (text, first) => {
  expect(text.slice(0, firstWordLength(text))).toBe(first);
});

it.each([
  [" a big red do", true, " a big red"], // more of the last word may come
  [" a big red dog", false, " a big red dog"],
  [" strawb", true, " strawb"], // part of a word, because there is no whole one
  [" he said.", true, " he said"],
  [" the end. \nThen", true, " the end."],
  ["\n\nThen he", true, "\n\nThen"], // the line is the one with words
  [" red ", false, " red"],
  [" \n ", true, ""],
  ["", false, ""],
])("the suggested length of %j, cut off: %j, is %j", (text, isCutOff, suggested) => {
  expect(text.slice(0, suggestedLength(text, isCutOff))).toBe(suggested);
});
