// Saves the text as a file: plain, as Markdown, or as a web page.
import type { Tree } from "../../document/tree.js";
import { plainButton } from "../../dom/buttons.js";
import { download } from "../../dom/download.js";
import type { KeptText } from "../../document/kept-text.js";
import type { Elements } from "../../dom/elements.js";
import { phrase } from "../../language/editor.js";
import { setTranslatedText, keepTranslated } from "../../language/keep-translated.js";
import { alternativesOf, fileName } from "../../library/alternatives.js";
import { asHtml } from "../../library/as-html.js";
import { asMarkdown } from "../../library/as-markdown.js";

export interface SavedText {
  kept: KeptText;
  /** undefined if there are no branches. */
  tree: Tree | undefined;
  /** The name of the model that wrote last, or of the current one. */
  model: string;
}

const formats = [
  { ending: "txt", type: "text/plain" },
  { ending: "md", type: "text/markdown" },
  { ending: "html", type: "text/html" },
] as const;

type Ending = (typeof formats)[number]["ending"];

function contentOf(ending: Ending, { kept, tree, model }: SavedText): string {
  const alternatives = tree ? alternativesOf(tree) : [];
  switch (ending) {
    case "txt":
      return kept.text;
    case "md":
      return asMarkdown(kept, alternatives);
    case "html": {
      const title = fileName(kept.text, "").slice(0, -1).replaceAll("-", " ");
      return asHtml(kept, alternatives, {
        title,
        model,
        language: document.documentElement.lang,
      });
    }
  }
}

/** Offers the formats; reads the text with `saved` when one is chosen. */
export function offerSavingText(
  ui: Pick<Elements, "textSavingFormats" | "textSavingStatus">,
  saved: () => SavedText,
): void {
  for (const { ending, type } of formats) {
    const button = plainButton("", () => {
      const now = saved();
      const name = fileName(now.kept.text, ending);
      download(name, [new Blob([contentOf(ending, now)])], `${type};charset=utf-8`);
      setTranslatedText(ui.textSavingStatus, () => phrase("textSaved", { name }));
    });
    keepTranslated(button, () => {
      button.textContent = phrase(`format.${ending}`);
      button.ariaLabel = phrase("saveAs", { format: button.textContent });
    });
    ui.textSavingFormats.append(button);
  }
}
