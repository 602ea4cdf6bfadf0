// Lets the visitor change the language of the page.
import type { Elements } from "../../dom/elements.js";
import { make } from "../../dom/make.js";
import type { PageState } from "../../state/page-state.js";
import { languages, type Language } from "../../language/languages.js";
import { phrase } from "../../language/start.js";
import { currentLanguage } from "../../language/translation.js";
import "./language.css";

/** If the words cannot be fetched, the page keeps its language. */
async function change(select: HTMLSelectElement, state: PageState): Promise<void> {
  try {
    const { changeLanguage } = await import("../../language/change-language.js");
    await changeLanguage(select.value as Language);
  } catch (error) {
    select.value = currentLanguage.peek().language;
    state.showError((why) => phrase("noPart", { why }), error);
  }
}

export function offerLanguages({ language: select }: Pick<Elements, "language">, state: PageState): void {
  const { language } = currentLanguage.peek();
  const names = Object.entries(languages) as [Language, string][];
  select.append(
    ...names.map(([value, name]) =>
      make("option", { value, lang: value, selected: value === language }, name),
    ),
  );
  select.hidden = false;
  let changed = Promise.resolve();
  select.addEventListener("change", () => void (changed = changed.then(() => change(select, state))));
}
