// The texts of index.html in another language.

/** Puts the texts of `page` in the place of those that index.html came with. */
export function translatePage(page: Readonly<Record<string, string>>): void {
  for (const part of document.querySelectorAll<HTMLElement>("[data-phrase]"))
    part.textContent = page[part.dataset.phrase ?? ""] ?? "";
  for (const part of document.querySelectorAll<HTMLElement>("[data-phrases]")) {
    for (const pair of part.dataset.phrases?.split(" ") ?? []) {
      const [name = "", phrase = ""] = pair.split(":");
      part.setAttribute(name, page[phrase] ?? "");
    }
  }
}
