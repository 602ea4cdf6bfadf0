// Translates the texts of index.html.

/** Replaces the texts of index.html by those of `page`. */
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
