// Puts the page's language in place, and lets one choose another.
import { elements as ui } from "../elements.js";
import { languages, type Language } from "./languages.js";
import { language, translation } from "./translation.js";

/** Of this page alone, as choose.mjs reads it: others of the same host share the storage. */
const key = `gpt2-language ${location.pathname}`;

/** Puts the texts of `page` in the place of those that index.html came with. */
function translatePage(page: Readonly<Record<string, string>>): void {
  for (const part of document.querySelectorAll<HTMLElement>("[data-phrase]"))
    part.textContent = page[part.dataset.phrase ?? ""] ?? "";
  for (const part of document.querySelectorAll<HTMLElement>("[data-phrases]")) {
    for (const pair of part.dataset.phrases?.split(" ") ?? []) {
      const [name = "", phrase = ""] = pair.split(":");
      part.setAttribute(name, page[phrase] ?? "");
    }
  }
}

/** False, too, where the part of the page that asks cannot be fetched. */
const mayForgetFiles = (name: string): Promise<boolean> =>
  import("../models/forget-files.js").then(
    (part) => part.mayForgetFiles(name),
    () => false,
  );

/**
 * Keeps the choice, and loads the page once more in that language: its text, what can be undone and its branches outlive that.
 * `files` gives the name of a model whose files would have to be picked again, which its reader is asked about before.
 */
async function change(next: string, files: () => string | undefined): Promise<void> {
  const name = files();
  if (name !== undefined && !(await mayForgetFiles(name))) {
    ui.language.value = language;
    return;
  }
  try {
    localStorage.setItem(key, next);
    location.reload();
  } catch {
    ui.language.hidden = true; // there is no storage, as in a sandboxed frame
  }
}

export function showLanguage(files: () => string | undefined): void {
  if (translation) translatePage(translation.page);
  delete document.documentElement.dataset.awaits;
  const names = Object.entries(languages) as [Language, string][];
  ui.language.append(
    ...names.map(([value, name]) => {
      const option = new Option(name, value, false, value === language);
      option.lang = value;
      return option;
    }),
  );
  ui.language.hidden = false;
  ui.language.addEventListener("change", () => void change(ui.language.value, files));
}
