// Chooses the language of the page. The build writes this function into the head of the page, where it runs before the
// first paint, so it uses nothing from outside.

/**
 * Uses the language of `?lang=`, else the one that was chosen on this page, else the browser's first available one, else
 * English. For languages other than English it starts to fetch the words and hides the page until they have arrived
 * (style/base.css limits that).
 * @param {Readonly<Record<string, string>>} scripts Addresses of the words by language; "" if they are part of the page.
 */
export function chooseLanguage(scripts) {
  let kept = null;
  try {
    kept = localStorage.getItem(`gpt2-language ${location.pathname}`);
  } catch {
    // There is no storage, as in a sandboxed frame.
  }
  const named = new URLSearchParams(location.search).getAll("lang");
  const tags = [...named, ...(kept === null ? navigator.languages : [kept])];
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
