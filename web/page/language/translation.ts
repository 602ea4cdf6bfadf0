// The language of the page, and its words where that is not English. choose.mjs has chosen it before the first paint.
import type { Language } from "./languages.js";
import type { Translation } from "./sections.js";

/** Brings the words of each language but English. */
const bring: Readonly<Record<Exclude<Language, "en">, () => Promise<Translation>>> = {
  de: () => import("./de.js"),
};
const isBrought = (tag: string): tag is keyof typeof bring => Object.hasOwn(bring, tag);

/** For so long style/base.css hides the page, too. */
const mostMs = 4000;

/** Undefined: the page is in English. */
export let translation: Translation | undefined;
export let language: Language = "en";

/** Puts `next` in place of the language; rejects where its words do not come. */
export async function setLanguage(next: Language): Promise<void> {
  const words = isBrought(next) ? await bring[next]() : undefined;
  [translation, language] = [words, next];
  document.documentElement.lang = next;
}

/** Brings the words of the language that choose.mjs has chosen; where they do not come in time, the page is in English. */
export async function loadTranslation(): Promise<void> {
  const root = document.documentElement;
  const chosen = root.lang;
  if (!isBrought(chosen)) return;
  const late = new Promise<undefined>((resolve) => setTimeout(resolve, mostMs));
  const words = await Promise.race([bring[chosen]().catch(() => undefined), late]);
  if (words) [translation, language] = [words, chosen];
  root.lang = language;
}
