// The language of the page, and its words unless that is English. choose.mjs has chosen it before the first paint.
import { signal, type Signal } from "@preact/signals-core";
import type { Language } from "./languages.js";
import type { Translation } from "./sections.js";

/** Imports the words of each language except English. */
const bring: Readonly<Record<Exclude<Language, "en">, () => Promise<Translation>>> = {
  de: () => import("./de.js"),
};
const isBrought = (tag: string): tag is keyof typeof bring => Object.hasOwn(bring, tag);

/** style/base.css hides the page for the same time. */
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

/** The words of `language`; rejects if they cannot be loaded. */
export const wordsOf = async (language: Language): Promise<Translation | undefined> =>
  isBrought(language) ? bring[language]() : undefined;

/** Loads the words of the language that choose.mjs has chosen. If they do not arrive in time, the page is in English. */
export async function loadTranslation(): Promise<void> {
  const root = document.documentElement;
  const chosen = root.lang;
  if (!isBrought(chosen)) return;
  const late = new Promise<undefined>((resolve) => setTimeout(resolve, mostMs));
  const words = await Promise.race([bring[chosen]().catch(() => undefined), late]);
  if (words) currentLanguage.value = { language: chosen, words };
  root.lang = currentLanguage.peek().language;
}
