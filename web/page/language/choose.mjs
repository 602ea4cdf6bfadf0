// Which language the page is in. The build writes this function into the head of the page, where it runs before anything
// is painted: it uses nothing from outside it.

/**
 * Takes the language that was chosen on this page, else the first of the browser's that there is, else English. For another
 * than English it begins to fetch the words, and hides the page until they are there (style/base.css says how long at most).
 * @param {Readonly<Record<string, string>>} scripts Addresses of the words by language; "" where they are in the page.
 */
export function chooseLanguage(scripts) {
  let kept = null;
  try {
    kept = localStorage.getItem(`gpt2-language ${location.pathname}`);
  } catch {
    // There is no storage, as in a sandboxed frame.
  }
  const tags = kept === null ? navigator.languages : [kept];
  const wanted = tags.map((tag) => tag.replace(/-.*/, "").toLowerCase());
  const language = wanted.find((each) => each === "en" || Object.hasOwn(scripts, each));
  if (language === undefined || language === "en") return;
  const root = document.documentElement;
  root.lang = language;
  root.dataset.awaits = "words";
  if (!scripts[language]) return;
  const preload = document.createElement("link");
  preload.rel = "modulepreload";
  preload.href = scripts[language];
  document.head.append(preload);
}
