// Lets the visitor change the language of the page.
import { elements as ui } from "../../dom/elements.js";
import type { PageState } from "../../state/page-state.js";
import { messageOf } from "../../state/errors.js";
import { languages, type Language } from "../../language/languages.js";
import { phrase } from "../../language/start.js";
import { currentLanguage } from "../../language/translation.js";

/** If the words cannot be fetched, the page keeps its language. */
async function change(state: PageState): Promise<void> {
  try {
    const { changeLanguage } = await import("../../language/change-language.js");
    await changeLanguage(ui.language.value as Language);
  } catch (error) {
    ui.language.value = currentLanguage.peek().language;
    state.showError(() => phrase("noPart", { why: messageOf(error) }));
  }
}

export function offerLanguages(state: PageState): void {
  const { language } = currentLanguage.peek();
  const names = Object.entries(languages) as [Language, string][];
  ui.language.append(
    ...names.map(([value, name]) => {
      const option = new Option(name, value, false, value === language);
      option.lang = value;
      return option;
    }),
  );
  ui.language.hidden = false;
  let changed = Promise.resolve();
  ui.language.addEventListener("change", () => void (changed = changed.then(() => change(state))));
}
