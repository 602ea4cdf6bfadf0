// Another language in the place of the page's, while it is read and written in. Fetched when one is chosen.
import type { Language } from "./languages.js";
import { page } from "./page.js";
import { translatePage } from "./translate-page.js";
import { currentLanguage, wordsOf } from "./translation.js";

/** Of this page alone, as choose.mjs reads it: others of the same host share the storage. */
const key = `gpt2-language ${location.pathname}`;

/** All that the page says is in `next` from then on, also at its next visit. Rejects where its words do not come. */
export async function changeLanguage(next: Language): Promise<void> {
  const words = await wordsOf(next);
  document.documentElement.lang = next;
  translatePage(words?.page ?? page);
  currentLanguage.value = { language: next, words };
  try {
    localStorage.setItem(key, next);
  } catch {
    // There is no storage, as in a sandboxed frame: it is for this visit.
  }
}
