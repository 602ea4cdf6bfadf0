// @vitest-environment happy-dom
// The choice of language alone.
import { expect, it, vi } from "vitest";
import { currentLanguage } from "../../../../web/page/language/translation.js";
import { offerLanguages } from "../../../../web/page/parts/language/show.js";
import { makeState, mountMarkup } from "../../support/page-part.js";

it("choosing German brings its words", async () => {
  const ui = mountMarkup("language");
  offerLanguages(ui, makeState());
  expect(ui.language.hidden).toBe(false);
  expect([...ui.language.options].map(({ value }) => value)).toEqual(["en", "de"]);
  ui.language.value = "de";
  ui.language.dispatchEvent(new Event("change"));
  await vi.waitUntil(() => currentLanguage.peek().language === "de");
  expect(currentLanguage.peek().words?.start.stop).toBe("Stopp");
});
