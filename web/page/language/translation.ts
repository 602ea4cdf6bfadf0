// The language of the page, and its words where that is not English. choose.mjs has chosen it before the first paint.
import { signal, type Signal } from "@preact/signals-core";
import type { Language } from "./languages.js";
import type { Translation } from "./sections.js";

/** Brings the words of each language but English. */
const bring: Readonly<Record<Exclude<Language, "en">, () => Promise<Translation>>> = {
  de: () => import("./de.js"),
};
const isBrought = (tag: string): tag is keyof typeof bring => Object.hasOwn(bring, tag);

/** For so long style/base.css hides the page, too. */
const mostMs = 4000;

/** The language of the page, and its words; undefined: they are English. */
export interface CurrentLanguage {
  language: Language;
  words: Translation | undefined;
}
export const currentLanguage: Signal<CurrentLanguage> = signal<CurrentLanguage>({
  language: "en",
  words: undefined,
});

/** The words of `language`; rejects where they do not come. */
export const wordsOf = async (language: Language): Promise<Translation | undefined> =>
  isBrought(language) ? bring[language]() : undefined;

/** Brings the words of the language that choose.mjs has chosen; where they do not come in time, the page is in English. */
export async function loadTranslation(): Promise<void> {
  const root = document.documentElement;
  const chosen = root.lang;
  if (!isBrought(chosen)) return;
  const late = new Promise<undefined>((resolve) => setTimeout(resolve, mostMs));
  const words = await Promise.race([bring[chosen]().catch(() => undefined), late]);
  if (words) currentLanguage.value = { language: chosen, words };
  root.lang = currentLanguage.peek().language;
}
