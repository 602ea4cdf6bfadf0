// @vitest-environment happy-dom
// What is told again in another language.
import { expect, it } from "vitest";
import { keepTold, put } from "../../../web/page/language/told.js";
import { inUse } from "../../../web/page/language/translation.js";

/** As who chooses a language does. */
const tellAgain = () => (inUse.value = { ...inUse.value });

it("tells again what is told of each part last, and of no part twice", () => {
  let word = "one";
  const [first, second] = [document.createElement("p"), document.createElement("p")];
  put(first, () => `the ${word}`);
  put(second, () => "what was there before");
  put(second, () => `a ${word}`);
  let times = 0;
  keepTold(first.classList, () => (times += 1));
  expect([first.textContent, second.textContent, times]).toEqual(["the one", "a one", 1]);
  word = "other";
  tellAgain();
  expect([first.textContent, second.textContent, times]).toEqual(["the other", "a other", 2]);
});

it("leaves a text alone that is there already, which a live region would say again", () => {
  const part = document.createElement("p");
  put(part, () => "said");
  const { firstChild } = part;
  tellAgain();
  expect(part.firstChild).toBe(firstChild);
});
