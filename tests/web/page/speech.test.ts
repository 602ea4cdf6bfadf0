// @vitest-environment happy-dom
// The announcements for screen readers, and their times.
import { beforeEach, expect, it, vi } from "vitest";
import { Speech, speechIn } from "../../../web/page/parts/status/speech.js";
import { mountMarkup } from "../support/page-part.js";

const story = "Once upon a time there was a dog. It was big and red. It ran to the sea, and swam. The e";

const said: { text: string; at: number }[] = [];
const make = (isSilent = () => false) =>
  new Speech(({ text }) => said.push({ text, at: Date.now() }), isSilent);
const texts = () => said.map(({ text }) => text);

beforeEach(() => {
  vi.useFakeTimers();
  said.length = 0;
});

it("speech consists of whole sentences in order, each after the one before could be heard, and then the end", () => {
  const own = make();
  for (const character of story) own.add(character); // all at once, as a fast model writes
  own.add("nd");
  own.finish();
  own.status("Reached the number of tokens asked for.");
  expect(texts()).toEqual(["Once upon a time there was a dog."]);
  vi.runAllTimers();
  expect(texts()).toEqual([
    "Once upon a time there was a dog.",
    "It was big and red.",
    "It ran to the sea, and swam.",
    "The end",
    "Reached the number of tokens asked for.",
  ]);
  for (const [place, { at }] of said.entries()) {
    const before = said[place - 1];
    // Speech is never faster than 30 letters a second.
    if (before) expect(at - before.at).toBeGreaterThan((before.text.length * 1000) / 30);
  }
});

it("a sentence that the visitor began is announced without the comma before the model's part", () => {
  const own = make();
  own.add(", there was a dog. It ran");
  own.finish();
  vi.runAllTimers();
  expect(texts()).toEqual(["there was a dog.", "It ran"]);
});

it.each([
  ["after hush, only later sentences", "Stopped, 20 tokens.", false],
  ["before hush, announcements that are not the model's text", "Finished, 20 tokens.", true],
])("%s are announced", (_, status, isBefore) => {
  const own = make();
  own.add(story);
  if (isBefore) own.status(status);
  own.hush();
  if (!isBefore) own.status(status);
  vi.runAllTimers();
  expect(texts()).toEqual(["Once upon a time there was a dog.", status]);
});

it("only the newest status is announced, and only the end if the text is silent", () => {
  const own = make(() => true);
  for (const done of [128, 256, 384]) own.status(`Reading the text: ${done} of 900 tokens`);
  own.add(story);
  own.finish();
  vi.runAllTimers();
  own.status("Reached the stop text.");
  vi.runAllTimers();
  expect(texts()).toEqual([
    "Reading the text: 128 of 900 tokens",
    "Reading the text: 384 of 900 tokens",
    "Reached the stop text.",
  ]);
});

it("a notice is announced whatever happens to the status", () => {
  const own = make();
  own.add(story);
  own.notice("3 suggestions: one; two; three");
  own.status("Looking for words…");
  own.status("");
  vi.runAllTimers();
  expect(texts().at(-1)).toBe("3 suggestions: one; two; three");
});

it("speech leaves out lines without words, such as dashes", () => {
  const own = make();
  own.add("---\n... A dog came.\n");
  vi.runAllTimers();
  expect(texts()).toEqual(["---\n... A dog came."]);
});

it("each utterance is appended in its own language", () => {
  document.documentElement.lang = "de";
  const speech = speechIn(mountMarkup("spoken").spoken);
  speech.add("A dog came. ");
  speech.status("Fertig.");
  vi.runAllTimers();
  const all = [...document.querySelectorAll("#spoken > div")];
  expect(all.map(({ textContent }) => textContent)).toEqual(["A dog came.", "Fertig."]);
  expect(all.map((each) => each.getAttribute("lang"))).toEqual([null, "de"]);
});
