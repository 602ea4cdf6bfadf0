// @vitest-environment happy-dom
// Text that is replaced when the language changes.
import { expect, it } from "vitest";
import { keepTranslated, setTranslatedText } from "../../../web/page/language/keep-translated.js";
import { currentLanguage } from "../../../web/page/language/translation.js";

/** Simulates a choice of language. */
const switchLanguage = () => (currentLanguage.value = { ...currentLanguage.value });

it("a change of language renders the last text of each part once", () => {
  let word = "one";
  const [first, second] = [document.createElement("p"), document.createElement("p")];
  setTranslatedText(first, () => `the ${word}`);
  setTranslatedText(second, () => "what was there before");
  setTranslatedText(second, () => `a ${word}`);
  let times = 0;
  keepTranslated(first.classList, () => (times += 1));
  expect([first.textContent, second.textContent, times]).toEqual(["the one", "a one", 1]);
  word = "other";
  switchLanguage();
  expect([first.textContent, second.textContent, times]).toEqual(["the other", "a other", 2]);
});

it("an unchanged text is not set again, which a live region would announce", () => {
  const part = document.createElement("p");
  setTranslatedText(part, () => "said");
  const { firstChild } = part;
  switchLanguage();
  expect(part.firstChild).toBe(firstChild);
});
