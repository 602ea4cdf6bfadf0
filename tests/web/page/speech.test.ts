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

beforeEach(() => void vi.useFakeTimers());

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

/** What is announced when `speak` is called with a new speech. */
function heard(speak: (speech: Speech) => void, isSilent = false): string[] {
  said.length = 0;
  speak(make(() => isSilent));
  vi.runAllTimers();
  return texts();
}
const [first] = story.split(" It was");

it("a sentence that the visitor began is announced without the comma before the model's part", () => {
  const found = heard((own) => (own.add(", there was a dog. It ran"), own.finish()));
  expect(found).toEqual(["there was a dog.", "It ran"]);
});

it("hush drops the model's sentences that wait, and nothing else", () => {
  const later = heard((own) => (own.add(story), own.hush(), own.status("Stopped.")));
  expect(later).toEqual([first, "Stopped."]);
  const before = heard((own) => (own.add(story), own.status("Finished."), own.hush()));
  expect(before).toEqual([first, "Finished."]);
});

it("only the newest status is announced, and only the end if the text is silent", () => {
  expect(heard((own) => ["1", "2", "3"].forEach((done) => own.status(done)))).toEqual(["1", "3"]);
  expect(heard((own) => (own.add(story), own.finish(), own.status("The end.")), true)).toEqual(["The end."]);
});

it("a notice is announced whatever happens to the status", () => {
  const found = heard((own) => (own.add(story), own.notice("3 words"), own.status("Wait"), own.status("")));
  expect(found.at(-1)).toBe("3 words");
});

it("speech leaves out lines without words, such as dashes", () => {
  expect(heard((own) => own.add("---\n... A dog came.\n"))).toEqual(["---\n... A dog came."]);
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
