// Changes the language of the open page. Fetched when the visitor chooses another language.
import type { Language } from "./languages.js";
import { page } from "./page.js";
import { translatePage } from "./translate-page.js";
import { currentLanguage, wordsOf } from "./translation.js";

/** The key of this page alone, as in choose.mjs: other pages of the host share the storage. */
const key = `gpt2-language ${location.pathname}`;

/** Changes all texts of the page to `next`, also for later visits. Rejects if its words cannot be loaded. */
export async function changeLanguage(next: Language): Promise<void> {
  const words = await wordsOf(next);
  document.documentElement.lang = next;
  translatePage(words?.page ?? page);
  currentLanguage.value = { language: next, words };
  const address = new URL(location.href);
  if (address.searchParams.has("lang")) {
    address.searchParams.delete("lang"); // it would win at the next visit
    history.replaceState(null, "", address);
  }
  try {
    localStorage.setItem(key, next);
  } catch {
    // There is no storage, as in a sandboxed frame: the choice lasts for this visit.
  }
}
